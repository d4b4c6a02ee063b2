// Suspending and resuming.
#include "../Check.h"

static latch suspended = LATCH(1);
static void suspend_it(void *queue) {
  dispatch_suspend((dispatch_queue_t)queue);
  latch_down(&suspended);
}

CASE(suspended_queue_starts_nothing) {
  static counter ran;
  static latch done = LATCH(1);
  dispatch_queue_t queue = serial_queue(), other = serial_queue();
  dispatch_suspend(queue);
  dispatch_async_f(queue, &ran, count_up);
  dispatch_async_f(queue, &done, open_latch);
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(ran.value, 0);
  dispatch_resume(queue);
  latch_wait(&done);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
  dispatch_release(other);
}

CASE(suspension_nests) {
  static counter ran;
  dispatch_queue_t queue = serial_queue(), other = serial_queue();
  for (int n = 0; n < 200; n++) dispatch_suspend(queue);
  dispatch_async_f(queue, &ran, count_up);
  for (int n = 0; n < 199; n++) dispatch_resume(queue);
  for (int n = 0; n < 50; n++) drain(other);
  CHECK_EQUAL(ran.value, 0);
  dispatch_resume(queue);
  drain(queue);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
  dispatch_release(other);
}

CASE(item_that_suspends_its_queue_is_the_last) {
  static counter ran;
  static latch done = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  dispatch_async_f(queue, queue, suspend_it);
  dispatch_async_f(queue, &ran, count_up);
  dispatch_async_f(queue, &done, open_latch);
  latch_wait(&suspended);
  dispatch_queue_t other = serial_queue();
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(ran.value, 0);
  CHECK(!latch_is_open(&done));
  dispatch_resume(queue);
  latch_wait(&done);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
  dispatch_release(other);
}

CASE(concurrent_queue_can_be_suspended) {
  static counter ran;
  static latch done = LATCH(20);
  dispatch_queue_t queue = concurrent_queue();
  dispatch_suspend(queue);
  for (int n = 0; n < 20; n++) {
    dispatch_async_f(queue, &ran, count_up);
    dispatch_async_f(queue, &done, open_latch);
  }
  CHECK_EQUAL(ran.value, 0);
  dispatch_resume(queue);
  latch_wait(&done);
  dispatch_barrier_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 21);
  dispatch_release(queue);
}

CASE(suspending_a_global_queue_does_nothing) {
  static counter ran;
  dispatch_suspend(global_queue());
  dispatch_sync_f(global_queue(), &ran, count_up);
  dispatch_resume(global_queue());
  CHECK_EQUAL(ran.value, 1);
}

CASE(activating_an_active_queue_does_nothing) {
  static counter ran;
  dispatch_queue_t queue = serial_queue();
  dispatch_activate(queue);
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
}

STOPS(resuming_without_suspending_stops, "resume|conformance.serial") {
  dispatch_resume(serial_queue());
}

STOPS(releasing_a_suspended_queue_stops, "suspend|conformance.serial") {
  dispatch_queue_t queue = serial_queue();
  dispatch_suspend(queue);
  dispatch_release(queue);
}
