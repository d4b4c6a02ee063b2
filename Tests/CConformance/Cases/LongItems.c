// Brief items beside items that take some milliseconds each, as of image filters or parsers.
#define _GNU_SOURCE
#include "../Check.h"

#include <sched.h>
#include <stdlib.h>

enum { ROUNDS = 21, BURST = 16, DEFAULT_CLASS = 0x15, UTILITY_CLASS = 0x11, MICROSECOND = 1000,
       MILLISECOND = 1000000 };

static atomic_int is_over;
static progress ended;
static latch last;

// If there is one, each item of the first chains writes an entry there.
static dispatch_queue_t log_queue;
enum { LOGGING_CHAINS = 8 };

typedef struct chain {
  dispatch_queue_t queue;
  int milliseconds;
  bool logs;
} chain;

static int64_t cpu_now(void) {
  struct timespec used;
  CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0);
  return used.tv_sec * (int64_t)NSEC_PER_SEC + used.tv_nsec;
}

static void compute(int64_t nanoseconds, int64_t (*clock)(void)) {
  int64_t end = clock() + nanoseconds;
  while (clock() < end) {}
}

static void write_entry(void *context) {
  (void)context;
  compute(50 * MICROSECOND, cpu_now);
}

static void compute_again(void *context) {
  chain *one = context;
  compute(one->milliseconds * (int64_t)MILLISECOND, log_queue ? cpu_now : monotonic_now);
  if (one->logs) dispatch_async_f(log_queue, NULL, write_entry);
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
    bool logs = log_queue && n < LOGGING_CHAINS;
    all[chains] = (chain){.queue = queue, .milliseconds = milliseconds, .logs = logs};
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

// by_size orders probes by the first field.
typedef struct probe {
  long waited, sent;
} probe;

static void arrive(void *context) {
  probe *one = context;
  one->waited = atomic_load(&ended.count) - one->sent;
}

// A log has a serial queue, whose workers take lanes only: other items of its class need their own.
CASE(items_of_utility_do_not_wait_for_a_serial_queue_of_utility) {
  enum { PROBES = 50 };
  static probe probes[PROBES];
  last = (latch)LATCH(cpus() + 1);
  log_queue = dispatch_queue_create(
    "log", dispatch_queue_attr_make_with_qos_class(NULL, UTILITY_CLASS, 0));
  begin_chains(cpus() + 1, 1, NULL, dispatch_get_global_queue(DEFAULT_CLASS, 0));
  dispatch_group_t all_arrived = dispatch_group_create();
  for (int n = 0; n < PROBES; n++) {
    progress_await(&ended, 10 * chains);
    probes[n].sent = atomic_load(&ended.count);
    dispatch_queue_t queue = dispatch_get_global_queue(UTILITY_CLASS, 0);
    dispatch_group_async_f(all_arrived, queue, &probes[n], arrive);
  }
  CHECK(dispatch_group_wait(all_arrived, DISPATCH_TIME_FOREVER) == 0);
  atomic_store(&is_over, 1);
  latch_wait(&last);
  qsort(probes, PROBES, sizeof probes[0], by_size);
  CHECK(probes[PROBES / 2].waited <= 8 * chains);
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
