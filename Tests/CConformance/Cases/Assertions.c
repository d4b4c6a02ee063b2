// dispatch_assert_queue: the caller checks the queue on which it runs.
#include "../Check.h"

static counter passed;
static void assert_on(void *queue) {
  dispatch_assert_queue((dispatch_queue_t)queue);
  count_up(&passed);
}
static void assert_barrier(void *queue) {
  dispatch_assert_queue_barrier((dispatch_queue_t)queue);
  count_up(&passed);
}
static void assert_not(void *queue) {
  dispatch_assert_queue_not((dispatch_queue_t)queue);
  count_up(&passed);
}

CASE(assert_queue_passes_on_the_queue_and_its_targets) {
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t top = dispatch_queue_create_with_target(NULL, NULL, bottom);
  dispatch_sync_f(top, top, assert_on);
  dispatch_sync_f(top, bottom, assert_on);
  dispatch_sync_f(bottom, bottom, assert_on);
  dispatch_sync_f(bottom, top, assert_not);
  CHECK_EQUAL(passed.value, 4);
  dispatch_release(top);
  dispatch_release(bottom);
}

CASE(assert_queue_barrier_passes_where_nothing_else_runs) {
  dispatch_queue_t serial = serial_queue(), concurrent = concurrent_queue();
  dispatch_sync_f(serial, serial, assert_barrier);
  dispatch_barrier_sync_f(concurrent, concurrent, assert_barrier);
  dispatch_sync_f(concurrent, concurrent, assert_on);
  CHECK_EQUAL(passed.value, 3);
  dispatch_release(serial);
  dispatch_release(concurrent);
}

CASE(assert_queue_not_passes_elsewhere) {
  dispatch_queue_t one = serial_queue(), other = serial_queue();
  assert_not(one);
  dispatch_sync_f(one, other, assert_not);
  CHECK_EQUAL(passed.value, 2);
  dispatch_release(one);
  dispatch_release(other);
}

CASE(main_thread_is_on_the_main_queue) {
  assert_on(dispatch_get_main_queue());
  CHECK_EQUAL(passed.value, 1);
}

STOPS(assert_queue_elsewhere_stops, "conformance.serial") { assert_on(serial_queue()); }

STOPS(assert_queue_not_on_the_queue_stops, "conformance.serial") {
  dispatch_queue_t queue = serial_queue();
  dispatch_sync_f(queue, queue, assert_not);
}

STOPS(assert_queue_barrier_in_a_reader_stops, "conformance.concurrent") {
  dispatch_queue_t queue = concurrent_queue();
  dispatch_sync_f(queue, queue, assert_barrier);
}
