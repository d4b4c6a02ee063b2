// Priorities by target queue: how a C program marks work as urgent.
#include "../Check.h"

enum { QUEUES = 16, ITEMS = 20, SPIN_NANOSECONDS = 1000000 };

static counter low_ended;

static void compute(void *context) {
  const int64_t end = monotonic_now() + SPIN_NANOSECONDS;
  while (monotonic_now() < end) { }
  count_up(context);
}

static void pass(void *context) { (void)context; }

typedef struct arrival {
  latch begun;
  long behind;  // low items that had ended when the high one started
} arrival;

static void arrive(void *context) {
  arrival *one = context;
  one->behind = low_ended.value;
  latch_down(&one->begun);
}

static dispatch_queue_t queue_on(long priority, bool is_concurrent, bool is_chain) {
  dispatch_queue_t queue = is_concurrent ? concurrent_queue() : serial_queue();
  dispatch_queue_t target = dispatch_get_global_queue(priority, 0);
  if (is_chain) {
    dispatch_queue_t between = serial_queue();
    dispatch_set_target_queue(between, target);
    dispatch_set_target_queue(queue, between);
    dispatch_release(between);
  } else {
    dispatch_set_target_queue(queue, target);
  }
  return queue;
}

static void submit_all(void *context) {
  arrival *one = context;
  dispatch_queue_t low[QUEUES];
  for (int n = 0; n < QUEUES; n++) {
    low[n] = queue_on(DISPATCH_QUEUE_PRIORITY_BACKGROUND, n % 2, n % 3 == 0);
    for (int item = 0; item < ITEMS; item++) dispatch_async_f(low[n], &low_ended, compute);
  }
  dispatch_queue_t high = queue_on(DISPATCH_QUEUE_PRIORITY_HIGH, false, true);
  dispatch_async_f(high, one, arrive);
  latch_wait(&one->begun);
  for (int n = 0; n < QUEUES; n++) {
    dispatch_barrier_sync_f(low[n], &low_ended, pass);
    dispatch_release(low[n]);
  }
  dispatch_release(high);
}

static void expect_early(arrival *one) {
  CHECK_EQUAL(low_ended.value, QUEUES * ITEMS);
  CHECK(one->behind < QUEUES * ITEMS / 2);
}

CASE(high_target_goes_before_background_targets_from_the_main_thread) {
  static arrival one = {LATCH(1), 0};
  submit_all(&one);
  expect_early(&one);
}

static void *submit_on_thread(void *context) {
  submit_all(context);
  return NULL;
}

CASE(high_target_goes_before_background_targets_from_a_thread) {
  static arrival one = {LATCH(1), 0};
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, submit_on_thread, &one));
  CHECK(!pthread_join(thread, NULL));
  expect_early(&one);
}

CASE(high_target_goes_before_background_targets_from_an_item) {
  static arrival one = {LATCH(1), 0};
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async_f(group, global_queue(), &one, submit_all);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  dispatch_release(group);
  expect_early(&one);
}
