// Brief items beside items that take some milliseconds each, as of image filters or parsers.
#define _GNU_SOURCE
#include "../Check.h"

#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 21, BURST = 16, DEFAULT_CLASS = 0x15, UTILITY_CLASS = 0x11, MILLISECOND = 1000000 };

static atomic_int is_over;
static progress ended;
static latch last;

typedef struct chain {
  dispatch_queue_t queue;
  int milliseconds;
} chain;

static void compute_again(void *context) {
  chain *one = context;
  int64_t end = monotonic_now() + one->milliseconds * (int64_t)MILLISECOND;
  while (monotonic_now() < end) {}
  progress_add(&ended);
  if (atomic_load(&is_over)) {
    latch_down(&last);
  } else {
    dispatch_async_f(one->queue, one, compute_again);
  }
}

static void nothing(void *context) { (void)context; }

static int by_size(const void *left, const void *right) {
  long a = *(const long *)left, b = *(const long *)right;
  return (a > b) - (a < b);
}

static int cpus(void) {
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
  return CPU_COUNT(&set) < 64 ? CPU_COUNT(&set) : 64;
}

static chain all[256];
static int chains;

// Each has its own queue, or all are on `shared`.
static void begin_chains(
  int count, int milliseconds, dispatch_queue_attr_t attributes, dispatch_queue_t shared) {
  for (int n = 0; n < count; n++, chains++) {
    dispatch_queue_t queue = shared ? shared : dispatch_queue_create("filter", attributes);
    all[chains] = (chain){.queue = queue, .milliseconds = milliseconds};
    dispatch_async_f(queue, &all[chains], compute_again);
  }
}

// Bursts of brief items on `queue` do not wait until each chain has run `max` of the long ones.
static void expect_bursts(dispatch_queue_t queue, int max) {
  long waited[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    // A burst comes when the filters are at work.
    progress_await(&ended, chains);
    long before = atomic_load(&ended.count);
    dispatch_group_t burst = dispatch_group_create();
    for (int n = 0; n < BURST; n++) dispatch_group_async_f(burst, queue, NULL, nothing);
    CHECK(dispatch_group_wait(burst, DISPATCH_TIME_FOREVER) == 0);
    waited[round] = atomic_load(&ended.count) - before;
    dispatch_release(burst);
  }
  atomic_store(&is_over, 1);
  latch_wait(&last);
  qsort(waited, ROUNDS, sizeof waited[0], by_size);
  CHECK(waited[ROUNDS / 2] <= max * chains);
}

static dispatch_queue_attr_t of_default_class(void) {
  return dispatch_queue_attr_make_with_qos_class(NULL, DEFAULT_CLASS, 0);
}

CASE(bursts_do_not_wait_for_long_items_of_serial_queues) {
  last = (latch)LATCH(2 * cpus());
  begin_chains(2 * cpus(), 5, of_default_class(), NULL);
  expect_bursts(global_queue(), 2);
}

// What the main thread submits is user-initiated.
CASE(bursts_do_not_wait_for_long_items_that_the_main_thread_submitted) {
  last = (latch)LATCH(2 * cpus());
  begin_chains(2 * cpus(), 5, NULL, NULL);
  expect_bursts(global_queue(), 2);
}

CASE(bursts_do_not_wait_for_long_items_of_a_concurrent_queue) {
  last = (latch)LATCH(2 * cpus());
  begin_chains(2 * cpus(), 5, NULL, concurrent_queue());
  expect_bursts(global_queue(), 2);
}

// A log or an index is written while a program computes.
CASE(bursts_of_utility_do_not_wait_for_long_items_of_the_default_class) {
  last = (latch)LATCH(2 * cpus());
  begin_chains(2 * cpus(), 5, NULL, dispatch_get_global_queue(DEFAULT_CLASS, 0));
  expect_bursts(dispatch_get_global_queue(UTILITY_CLASS, 0), 6);
}

static void *ask(void *queue) {
  expect_bursts(queue, 2);
  return NULL;
}

// Items of its class always run, and the lanes that run are of a higher one: another thread asks.
CASE(a_serial_queue_does_not_wait_for_long_items_on_either_side) {
  last = (latch)LATCH(2 * cpus());
  begin_chains(cpus(), 2, NULL, NULL);
  begin_chains(cpus(), 20, NULL, global_queue());
  pthread_t client;
  CHECK(pthread_create(&client, NULL, ask, serial_queue()) == 0);
  CHECK(pthread_join(client, NULL) == 0);
}
