// Consumers beside producers that always have work keep pace with them.
#define _GNU_SOURCE
#include "../Check.h"

#include <sched.h>

static void nothing(void *context) { (void)context; }

// As many serial queues as CPUs, whose items each submit the next one and one for a consumer. They
// need no more than most of the CPUs, so the consumer must keep pace with them.
enum {
  MESSAGES = 20000,
  PRODUCING_NANOSECONDS = 20000,
  CONSUMING_NANOSECONDS = 5000,
  DEFAULT_CLASS = 0x15,
  NO_CLASS = 0,
};

typedef struct producer {
  dispatch_queue_t queue, consumer;
  int left;
} producer;

enum { RUNS = 5 };
static latch consumed[RUNS];
static latch *consumed_now;
static atomic_int backlog, longest_backlog;

static void compute_for(int64_t nanoseconds) {
  int64_t end = monotonic_now() + nanoseconds;
  while (monotonic_now() < end) {}
}

static void consume(void *context) {
  (void)context;
  compute_for(CONSUMING_NANOSECONDS);
  atomic_fetch_sub(&backlog, 1);
  latch_down(consumed_now);
}

static void produce(void *context) {
  producer *one = context;
  compute_for(PRODUCING_NANOSECONDS);
  int now = atomic_fetch_add(&backlog, 1) + 1, seen = atomic_load(&longest_backlog);
  while (now > seen && !atomic_compare_exchange_weak(&longest_backlog, &seen, now)) {}
  dispatch_async_f(one->consumer, NULL, consume);
  if (--one->left > 0) dispatch_async_f(one->queue, one, produce);
}

// Returns the longest backlog of a run.
static int run_at_pace(int run, dispatch_queue_t consumer, dispatch_qos_class_t qos) {
  cpu_set_t cpus;
  CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  int count = CPU_COUNT(&cpus) < 64 ? CPU_COUNT(&cpus) : 64;
  static producer all[64];
  dispatch_queue_attr_t attributes = dispatch_queue_attr_make_with_qos_class(NULL, qos, 0);
  consumed_now = &consumed[run];
  *consumed_now = (latch)LATCH(MESSAGES);
  atomic_store(&longest_backlog, 0);
  for (int n = 0; n < count; n++) {
    all[n] = (producer){
      .queue = dispatch_queue_create("producer", attributes),
      .consumer = consumer,
      .left = MESSAGES / count + (n < MESSAGES % count),
    };
    dispatch_async_f(all[n].queue, &all[n], produce);
  }
  latch_wait(consumed_now);
  for (int n = 0; n < count; n++) {
    // Its last item has ended before the next run changes the producer.
    dispatch_sync_f(all[n].queue, NULL, nothing);
    dispatch_release(all[n].queue);
  }
  return longest_backlog;
}

// Some hundred if it keeps pace, nearly all if it waits for the producers' end: in each run then.
// In one of them the machine may be busy with other work for as long as it takes.
static void expect_pace(dispatch_queue_t consumer, dispatch_qos_class_t qos) {
  int run = 0;
  while (run < RUNS && run_at_pace(run, consumer, qos) >= MESSAGES / 2) run++;
  CHECK(run < RUNS);
}

CASE(a_global_queue_keeps_pace_with_serial_queues_of_its_class) {
  expect_pace(global_queue(), DEFAULT_CLASS);
}

CASE(a_concurrent_queue_keeps_pace_with_serial_queues_of_its_class) {
  expect_pace(concurrent_queue(), DEFAULT_CLASS);
}

// What the main thread submits is user-initiated, also if the program names no class.
CASE(a_global_queue_keeps_pace_with_serial_queues_that_the_main_thread_filled) {
  expect_pace(global_queue(), NO_CLASS);
}
