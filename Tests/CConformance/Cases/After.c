// Work submitted with dispatch_after: it starts at its time or later.
#include "../Check.h"

static int64_t ran_at;
static void note_time(void *context) {
  ran_at = monotonic_now();
  latch_down(context);
}

CASE(after_f_never_runs_early) {
  static latch done = LATCH(1);
  int64_t start = monotonic_now();
  dispatch_queue_t queue = serial_queue();
  dispatch_after_f(soon(), queue, &done, note_time);
  latch_wait(&done);
  CHECK(ran_at >= start + 20 * (int64_t)NSEC_PER_MSEC);
  dispatch_release(queue);
}

CASE(after_f_takes_walltime) {
  static latch done = LATCH(1);
  int64_t start = monotonic_now();
  dispatch_after_f(
    dispatch_walltime(NULL, 20 * (int64_t)NSEC_PER_MSEC), global_queue(), &done, note_time);
  latch_wait(&done);
  CHECK(ran_at >= start + 19 * (int64_t)NSEC_PER_MSEC);
}

CASE(after_f_the_past_submits_at_once) {
  static latch done = LATCH(3);
  dispatch_after_f(DISPATCH_TIME_NOW, global_queue(), &done, open_latch);
  dispatch_after_f(dispatch_time(DISPATCH_TIME_NOW, -5), global_queue(), &done, open_latch);
  dispatch_after_f(dispatch_walltime(NULL, -1000000), global_queue(), &done, open_latch);
  latch_wait(&done);
}

CASE(after_f_forever_never_runs) {
  static latch done = LATCH(1);
  static counter ran;
  dispatch_after_f(DISPATCH_TIME_FOREVER, global_queue(), &ran, count_up);
  dispatch_after_f(soon(), global_queue(), &done, open_latch);
  latch_wait(&done);
  CHECK_EQUAL(ran.value, 0);
}

CASE(after_f_runs_in_the_order_of_time) {
  static journal order = JOURNAL;
  static latch done = LATCH(3);
  static step steps[3] = {{&order, 0, &done}, {&order, 1, &done}, {&order, 2, &done}};
  const int64_t spacing = 100 * (int64_t)NSEC_PER_MSEC;
  dispatch_queue_t queue = serial_queue();
  // A round counts only if its last submission came before its first deadline.
  bool is_in_time;
  do {
    order.count = 0;
    done.left = 3;
    int64_t start = monotonic_now();
    dispatch_time_t base = dispatch_time(DISPATCH_TIME_NOW, 0);
    for (int n = 2; n >= 0; n--)
      dispatch_after_f(dispatch_time(base, (n + 1) * spacing), queue, &steps[n], take_step);
    is_in_time = monotonic_now() < start + spacing;
    latch_wait(&done);
  } while (!is_in_time);
  journal_expect(&order, 0, 1, 2);
  dispatch_release(queue);
}

// The first item may wait longest for others, because it is submitted long before its deadline. All
// deadlines have passed when it can wait no longer.
CASE(after_f_runs_in_the_order_of_time_whatever_may_wait_longer) {
  enum { items = 200 };
  static journal order;
  static latch done;
  static step steps[items];
  const int64_t delay = 40 * (int64_t)NSEC_PER_MSEC, pause = delay / 8;
  const int64_t spacing = 10 * (int64_t)NSEC_PER_USEC;
  dispatch_queue_t queue = serial_queue();
  // A round counts only if its last submission came before its first deadline.
  bool is_in_time;
  do {
    order = (journal)JOURNAL;
    done = (latch)LATCH(items);
    int64_t start = monotonic_now();
    dispatch_time_t base = dispatch_time(DISPATCH_TIME_NOW, delay);
    for (int n = 0; n < items; n++) {
      steps[n] = (step){&order, n, &done};
      dispatch_after_f(dispatch_time(base, n * spacing), queue, &steps[n], take_step);
      if (n == 0) while (monotonic_now() < start + pause) {}
    }
    is_in_time = monotonic_now() < start + delay;
    latch_wait(&done);
  } while (!is_in_time);
  for (int n = 0; n < items; n++) CHECK_EQUAL(order.entries[n], n);
  dispatch_release(queue);
}

CASE(after_f_keeps_its_queue) {
  static latch done = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  dispatch_after_f(soon(), queue, &done, open_latch);
  dispatch_release(queue);
  latch_wait(&done);
}

#ifdef __BLOCKS__
CASE(after_runs_a_block) {
  static latch done = LATCH(2);
  int64_t start = monotonic_now();
  __block int64_t late = 0;
  dispatch_after(soon(), global_queue(), ^{
    late = monotonic_now();
    latch_down(&done);
  });
  dispatch_after(DISPATCH_TIME_NOW, global_queue(), ^{ latch_down(&done); });
  latch_wait(&done);
  CHECK(late >= start + 20 * (int64_t)NSEC_PER_MSEC);
}
#endif
