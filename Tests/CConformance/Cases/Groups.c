// Groups.
#include "../Check.h"

CASE(empty_group_does_not_wait) {
  dispatch_group_t group = dispatch_group_create();
  CHECK_EQUAL(dispatch_group_wait(group, DISPATCH_TIME_NOW), 0);
  CHECK_EQUAL(dispatch_group_wait(group, DISPATCH_TIME_FOREVER), 0);
  dispatch_release(group);
}

CASE(group_wait_ends_when_all_have_left) {
  dispatch_group_t group = dispatch_group_create();
  for (int n = 0; n < 3; n++) dispatch_group_enter(group);
  for (int n = 0; n < 3; n++) {
    CHECK(dispatch_group_wait(group, DISPATCH_TIME_NOW) != 0);
    dispatch_group_leave(group);
  }
  CHECK_EQUAL(dispatch_group_wait(group, DISPATCH_TIME_NOW), 0);
  dispatch_release(group);
}

CASE(group_wait_gives_up_in_time) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  int64_t start = monotonic_now();
  CHECK(dispatch_group_wait(group, soon()) != 0);
  CHECK(monotonic_now() >= start + 20 * (int64_t)NSEC_PER_MSEC);
  CHECK(dispatch_group_wait(group, dispatch_walltime(NULL, 1000000)) != 0);
  dispatch_group_leave(group);
  CHECK_EQUAL(dispatch_group_wait(group, DISPATCH_TIME_NOW), 0);
  dispatch_release(group);
}

CASE(group_async_f_counts_its_work) {
  static counter ran;
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queue = concurrent_queue();
  for (int n = 0; n < 500; n++) dispatch_group_async_f(group, queue, &ran, count_up);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  CHECK_EQUAL(ran.value, 500);
  dispatch_release(queue);
  dispatch_release(group);
}

CASE(group_notify_f_runs_when_empty) {
  static latch done = LATCH(1);
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  dispatch_group_notify_f(group, global_queue(), &done, open_latch);
  dispatch_queue_t other = serial_queue();
  for (int n = 0; n < 100; n++) drain(other);
  CHECK(!latch_is_open(&done));
  dispatch_group_leave(group);
  latch_wait(&done);
  dispatch_release(other);
  dispatch_release(group);
}

CASE(group_notify_f_on_an_empty_group_runs_at_once) {
  static latch done = LATCH(1);
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_notify_f(group, global_queue(), &done, open_latch);
  dispatch_release(group);
  latch_wait(&done);
}

CASE(group_notifications_come_in_order) {
  static journal order = JOURNAL;
  static latch done = LATCH(4);
  static step steps[4] = {
    {&order, 0, &done}, {&order, 1, &done}, {&order, 2, &done}, {&order, 3, &done}};
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queue = serial_queue();
  dispatch_group_enter(group);
  for (int n = 0; n < 4; n++) dispatch_group_notify_f(group, queue, &steps[n], take_step);
  dispatch_group_leave(group);
  latch_wait(&done);
  journal_expect(&order, 0, 1, 2, 3);
  dispatch_release(queue);
  dispatch_release(group);
}

// The wait and the notification may find the end of the group at the same time.
CASE(group_notification_is_on_its_queue_when_a_wait_ends) {
  static counter worked, notified;
  dispatch_queue_t queue = serial_queue();
  dispatch_group_t group = dispatch_group_create();
  for (int n = 0; n < 1000; n++) {
    dispatch_group_async_f(group, global_queue(), &worked, count_up);
    dispatch_group_notify_f(group, queue, &notified, count_up);
    CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
    drain(queue);
    CHECK_EQUAL(notified.value, n + 1);
  }
  dispatch_release(group);
  dispatch_release(queue);
}

CASE(group_can_be_used_again) {
  static counter ran;
  dispatch_group_t group = dispatch_group_create();
  for (int n = 0; n < 200; n++) {
    dispatch_group_async_f(group, global_queue(), &ran, count_up);
    CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
    CHECK_EQUAL(ran.value, n + 1);
  }
  dispatch_release(group);
}

CASE(group_released_with_work_in_it_still_notifies) {
  static latch done = LATCH(1), opened = LATCH(1);
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queue = serial_queue();
  dispatch_suspend(queue);
  dispatch_group_async_f(group, queue, &opened, open_latch);
  dispatch_group_notify_f(group, global_queue(), &done, open_latch);
  dispatch_release(group);
  dispatch_resume(queue);
  latch_wait(&opened);
  latch_wait(&done);
  dispatch_release(queue);
}

static dispatch_group_t shared;
static void *wait_for_it(void *context) {
  CHECK_EQUAL(dispatch_group_wait(shared, deadline()), 0);
  latch_down(context);
  return NULL;
}

CASE(group_wakes_all_waiters) {
  static latch woken = LATCH(6);
  shared = dispatch_group_create();
  dispatch_group_enter(shared);
  pthread_t threads[6];
  for (int n = 0; n < 6; n++) CHECK(!pthread_create(&threads[n], NULL, wait_for_it, &woken));
  dispatch_group_leave(shared);
  latch_wait(&woken);
  for (int n = 0; n < 6; n++) CHECK(!pthread_join(threads[n], NULL));
  dispatch_release(shared);
}

STOPS(leaving_an_empty_group_stops, "leave") {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_leave(group);
}

#ifdef __BLOCKS__
CASE(group_blocks_run) {
  static latch done = LATCH(1);
  dispatch_group_t group = dispatch_group_create();
  __block _Atomic int sum = 0;
  __block int at_notification = 0;
  for (int n = 1; n <= 10; n++) dispatch_group_async(group, global_queue(), ^{ sum += n; });
  dispatch_group_notify(group, global_queue(), ^{
    at_notification = sum;
    latch_down(&done);
  });
  latch_wait(&done);
  CHECK_EQUAL(at_notification, 55);
  dispatch_release(group);
}
#endif
