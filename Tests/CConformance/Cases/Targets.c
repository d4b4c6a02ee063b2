// Target queues: where a queue's work runs.
#include "../Check.h"

static _Atomic int inside;
static latch all_done;
static void be_alone(void *context) {
  (void)context;
  CHECK_EQUAL(atomic_fetch_add(&inside, 1), 0);
  for (volatile int n = 0; n < 100; n++) { }
  atomic_fetch_sub(&inside, 1);
  latch_down(&all_done);
}

CASE(queues_on_one_serial_target_never_overlap) {
  all_done = (latch)LATCH(4000);
  dispatch_queue_t bottom = serial_queue(), tops[4];
  for (int n = 0; n < 4; n++)
    tops[n] = dispatch_queue_create_with_target(
      NULL, n % 2 ? DISPATCH_QUEUE_CONCURRENT : DISPATCH_QUEUE_SERIAL, bottom);
  for (int n = 0; n < 4000; n++) dispatch_async_f(tops[n % 4], NULL, be_alone);
  latch_wait(&all_done);
  for (int n = 0; n < 4; n++) dispatch_release(tops[n]);
  dispatch_release(bottom);
}

CASE(concurrent_queue_on_a_serial_one_keeps_order) {
  static journal order = JOURNAL;
  static step steps[5];
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t top =
    dispatch_queue_create_with_target(NULL, DISPATCH_QUEUE_CONCURRENT, bottom);
  for (int n = 0; n < 5; n++) {
    steps[n] = (step){&order, n, NULL};
    dispatch_async_f(top, &steps[n], take_step);
  }
  dispatch_barrier_sync_f(top, &(counter){0}, count_up);
  journal_expect(&order, 0, 1, 2, 3, 4);
  dispatch_release(top);
  dispatch_release(bottom);
}

CASE(hierarchies_may_be_deep) {
  static counter ran;
  static latch done = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  for (int n = 0; n < 40; n++) {
    dispatch_queue_t upper = dispatch_queue_create_with_target(NULL, NULL, queue);
    dispatch_release(queue);
    queue = upper;
  }
  dispatch_sync_f(queue, &ran, count_up);
  dispatch_async_f(queue, &done, open_latch);
  latch_wait(&done);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
}

static dispatch_queue_t expected_target;
static counter on_target;
static void check_target(void *context) {
  dispatch_assert_queue(expected_target);
  count_up(&on_target);
  if (context) latch_down(context);
}

CASE(set_target_queue_counts_from_then_on) {
  static latch done = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  expected_target = dispatch_queue_create("conformance.target", NULL);
  dispatch_set_target_queue(queue, expected_target);
  dispatch_async_f(queue, &done, check_target);
  latch_wait(&done);
  dispatch_sync_f(queue, NULL, check_target);
  CHECK_EQUAL(on_target.value, 2);
  dispatch_release(queue);
  dispatch_release(expected_target);
}

CASE(set_target_queue_while_inactive) {
  static latch done = LATCH(1);
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_SERIAL_INACTIVE);
  expected_target = dispatch_queue_create("conformance.target", NULL);
  dispatch_async_f(queue, &done, check_target);
  dispatch_set_target_queue(queue, expected_target);
  dispatch_activate(queue);
  latch_wait(&done);
  dispatch_release(queue);
  dispatch_release(expected_target);
}

CASE(target_default_is_a_global_queue) {
  static counter ran;
  dispatch_queue_t bottom = serial_queue(), queue = serial_queue();
  dispatch_set_target_queue(queue, bottom);
  dispatch_set_target_queue(queue, DISPATCH_TARGET_QUEUE_DEFAULT);
  drain(queue);
  // The old target is suspended, so an item that ran did not pass through it.
  dispatch_suspend(bottom);
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_resume(bottom);
  dispatch_release(queue);
  dispatch_release(bottom);
}

BEYOND(target_of_an_active_queue_can_change, "the peer stops") {
  static latch done = LATCH(1);
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t queue = dispatch_queue_create_with_target(NULL, NULL, bottom);
  drain(queue);
  expected_target = dispatch_queue_create("conformance.target", NULL);
  dispatch_set_target_queue(queue, expected_target);
  dispatch_async_f(queue, &done, check_target);
  latch_wait(&done);
  dispatch_release(queue);
  dispatch_release(bottom);
}

CASE(target_is_retained) {
  static latch done = LATCH(1);
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t top = dispatch_queue_create_with_target(NULL, NULL, bottom);
  dispatch_release(bottom);
  dispatch_async_f(top, &done, open_latch);
  latch_wait(&done);
  dispatch_release(top);
}

CASE(suspended_target_holds_up_its_queues) {
  static counter ran;
  dispatch_queue_t bottom = serial_queue(), other = serial_queue();
  dispatch_queue_t top = dispatch_queue_create_with_target(NULL, NULL, bottom);
  dispatch_suspend(bottom);
  dispatch_async_f(top, &ran, count_up);
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(ran.value, 0);
  dispatch_resume(bottom);
  drain(top);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(top);
  dispatch_release(bottom);
  dispatch_release(other);
}

CASE(setting_the_target_of_a_global_queue_does_nothing) {
  static counter ran;
  dispatch_queue_t suspended = serial_queue();
  dispatch_suspend(suspended);
  dispatch_set_target_queue(global_queue(), suspended);
  dispatch_set_target_queue(dispatch_get_main_queue(), suspended);
  dispatch_sync_f(global_queue(), &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}

// The mistake is made in a child process, whose report is read. If the library hangs there, so does
// this case, until the driver's limit.
BEYOND(a_loop_of_targets_stops, "the peer hangs instead of telling the loop") {
  dispatch_queue_t one = dispatch_queue_create("conformance.one", DISPATCH_QUEUE_SERIAL_INACTIVE);
  dispatch_queue_t two = dispatch_queue_create_with_target("conformance.two", NULL, one);
  int reports[2];
  CHECK(pipe(reports) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    dup2(reports[1], STDERR_FILENO);
    dispatch_set_target_queue(one, two);
    dispatch_activate(one);
    drain(one);
    _exit(0);
  }
  close(reports[1]);
  char text[1024] = "";
  size_t used = 0;
  for (ssize_t got; (got = read(reports[0], text + used, sizeof text - 1 - used)) > 0;) used += got;
  CHECK(strstr(text, "conformance.one") && strstr(text, "conformance.two"));
}
