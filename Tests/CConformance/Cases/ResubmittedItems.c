// Items that submit themselves again, as loops that give way do, beside items of other threads.
#define _GNU_SOURCE
#include "../Check.h"

#include <sched.h>
#include <stdlib.h>

enum { PROBES = 101, FEW_LOOPS = 2, MANY_LOOPS = 500 };

static int64_t item_nanoseconds = 10000;
static atomic_int is_over;
static atomic_long runs;

typedef struct loop {
  dispatch_queue_t queue;
  latch ended;
} loop;

static void run_again(void *context) {
  loop *one = context;
  int64_t end = monotonic_now() + item_nanoseconds;
  while (monotonic_now() < end) {}
  atomic_fetch_add(&runs, 1);
  if (atomic_load(&is_over)) {
    latch_down(&one->ended);
  } else {
    dispatch_async_f(one->queue, one, run_again);
  }
}

typedef struct probe {
  long runs_before, runs_until;
  latch ended;
} probe;

static void note_runs(void *context) {
  probe *one = context;
  one->runs_until = atomic_load(&runs);
  latch_down(&one->ended);
}

static int by_size(const void *left, const void *right) {
  long a = *(const long *)left, b = *(const long *)right;
  return (a > b) - (a < b);
}

// Half of the items from outside start before each loop has run a few times.
static void expect_turns(dispatch_queue_t queue, int loops_of_cpu, int rounds) {
  cpu_set_t cpus;
  CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  int count = loops_of_cpu * (CPU_COUNT(&cpus) < 64 ? CPU_COUNT(&cpus) : 64);
  loop all = {.queue = queue, .ended = LATCH(count)};
  for (int n = 0; n < count; n++) dispatch_async_f(queue, &all, run_again);
  long waited[PROBES];
  for (int n = 0; n < PROBES; n++) {
    // The next probe comes when the loops have run: not all at the same place of their round.
    long seen = atomic_load(&runs);
    while (atomic_load(&runs) < seen + count + n % 7) sched_yield();
    probe one = {.runs_before = atomic_load(&runs), .ended = LATCH(1)};
    dispatch_async_f(queue, &one, note_runs);
    latch_wait(&one.ended);
    waited[n] = one.runs_until - one.runs_before;
  }
  atomic_store(&is_over, 1);
  latch_wait(&all.ended);
  qsort(waited, PROBES, sizeof waited[0], by_size);
  CHECK(waited[PROBES / 2] <= rounds * count);
}

CASE(an_item_from_outside_has_its_turn_beside_a_global_queue_that_never_ends) {
  expect_turns(global_queue(), FEW_LOOPS, 6);
}

CASE(an_item_from_outside_has_its_turn_beside_a_concurrent_queue_that_never_ends) {
  expect_turns(concurrent_queue(), FEW_LOOPS, 6);
}

// More loops than the queues of the workers hold.
CASE(an_item_from_outside_has_its_turn_beside_a_global_queue_of_many_items) {
  item_nanoseconds = 1000;
  expect_turns(global_queue(), MANY_LOOPS, 12);
}

CASE(an_item_from_outside_has_its_turn_beside_a_concurrent_queue_of_many_items) {
  item_nanoseconds = 1000;
  expect_turns(concurrent_queue(), MANY_LOOPS, 12);
}
