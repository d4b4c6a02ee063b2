// Items of global queues beside items that take 5 ms each, as of image filters or parsers.
#define _GNU_SOURCE
#include "../Check.h"

#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 21, BURST = 16, ITEM_NANOSECONDS = 5000000, DEFAULT_CLASS = 0x15 };

static atomic_int is_over;
static atomic_long ended;

typedef struct chain {
  dispatch_queue_t queue;
  latch *last;
} chain;

static void compute_again(void *context) {
  chain *one = context;
  int64_t end = monotonic_now() + ITEM_NANOSECONDS;
  while (monotonic_now() < end) {}
  atomic_fetch_add(&ended, 1);
  if (atomic_load(&is_over)) {
    latch_down(one->last);
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

// Bursts of brief items do not wait until each CPU has run some of the long ones. Each chain has
// its own queue, or all are on `shared`.
static void expect_bursts(dispatch_queue_attr_t attributes, dispatch_queue_t shared) {
  int count = 2 * cpus();
  static chain all[128];
  latch last = LATCH(count);
  for (int n = 0; n < count; n++) {
    dispatch_queue_t queue = shared ? shared : dispatch_queue_create("filter", attributes);
    all[n] = (chain){.queue = queue, .last = &last};
    dispatch_async_f(queue, &all[n], compute_again);
  }
  long waited[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    // A burst comes when the filters are at work.
    long seen = atomic_load(&ended);
    while (atomic_load(&ended) < seen + count) usleep(1000);
    seen = atomic_load(&ended);
    dispatch_group_t burst = dispatch_group_create();
    for (int n = 0; n < BURST; n++) dispatch_group_async_f(burst, global_queue(), NULL, nothing);
    CHECK(dispatch_group_wait(burst, DISPATCH_TIME_FOREVER) == 0);
    waited[round] = atomic_load(&ended) - seen;
    dispatch_release(burst);
  }
  atomic_store(&is_over, 1);
  latch_wait(&last);
  qsort(waited, ROUNDS, sizeof waited[0], by_size);
  CHECK(waited[ROUNDS / 2] <= 2 * count);
}

CASE(bursts_do_not_wait_for_long_items_of_serial_queues) {
  expect_bursts(dispatch_queue_attr_make_with_qos_class(NULL, DEFAULT_CLASS, 0), NULL);
}

// What the main thread submits is user-initiated.
CASE(bursts_do_not_wait_for_long_items_that_the_main_thread_submitted) {
  expect_bursts(NULL, NULL);
}

CASE(bursts_do_not_wait_for_long_items_of_a_concurrent_queue) {
  expect_bursts(NULL, concurrent_queue());
}
