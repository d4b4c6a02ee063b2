// Random programs against the C API. `fuzz SEED` makes one program, runs it, and exits with 0 if
// every promise was kept. A seed always makes the same program; the schedule of its threads varies.
//
// Promises, for every program:
// - every item runs exactly once, and a waiting submission returns after its item;
// - a serial queue runs one item at a time; a barrier of a concurrent queue runs alone;
// - a concurrent queue with a width never runs more items at a time than its width (with
//   FUZZ_BEYOND only: the toolchain's library does not limit waiting submissions);
// - on a serial queue, items that one thread submits without waiting start in that order;
// - a group is empty at the end, and every notification ran once, when the group was empty or
//   later;
// - a semaphore never admits more threads than it has permits;
// - a source of added data delivers exactly the sum;
// - a queue's finalizer runs once, after all its items;
// - an object with several owners, released by the last, ends once: see Passing.h.
//
// Programs are free of deadlocks by construction. Queues belong to families; the queues of a family
// share their targets, and an item of one family waits only for later families. A thread that
// suspends a queue resumes it before it waits.
#include "../Check.h"
#include "../Private.h"

#include <sched.h>

enum { THREADS = 4, FAMILIES = 3, QUEUES = 9, GROUPS = 3, STEPS = 400, MOST_ITEMS = 60000 };

// MARK: Random numbers: splitmix64, one stream a thread

static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
static int below(uint64_t *state, int bound) {
  return (int)(next_random(state) % (uint64_t)bound);
}

// MARK: The world

typedef struct fuzz_queue {
  dispatch_queue_t handle;
  bool is_serial;
  int family;
  int width;                            // the largest width that it is given; 0: unlimited
  _Atomic int shared, alone;            // items inside: shared ones, and ones that run alone
  _Atomic int last_started[THREADS];    // by submitter: the number of the item that started last
  int submitted[THREADS];               // its last number given out; owner-only
  _Atomic long items_begun, items_ended;
  latch finalized;
} fuzz_queue;

typedef struct fuzz_group {
  dispatch_group_t handle;
  _Atomic long notifications, notified;
} fuzz_group;

typedef struct item {
  fuzz_queue *queue;
  int submitter, number;  // number 0: no order is promised
  bool is_barrier, nests;
  uint64_t random;
  _Atomic int runs;
} item;

static fuzz_queue queues[QUEUES];
static fuzz_group groups[GROUPS];
static item items[MOST_ITEMS];
static _Atomic int item_count;
static dispatch_group_t everything;
static dispatch_semaphore_t permits;
static _Atomic int permits_taken;
enum { PERMITS = 1 };
static dispatch_source_t adder;
static _Atomic unsigned long added, delivered;
static latch all_delivered = LATCH(1);
static _Atomic bool is_over;
static bool is_beyond;

static item *new_item(
  fuzz_queue *queue, int submitter, bool is_barrier, bool nests, uint64_t random) {
  int index = atomic_fetch_add(&item_count, 1);
  CHECK(index < MOST_ITEMS);
  item *one = &items[index];
  one->queue = queue, one->submitter = submitter, one->is_barrier = is_barrier;
  one->nests = nests, one->random = random;
  dispatch_group_enter(everything);
  return one;
}

// MARK: Items

static void nest(item *one);

static void run_item(void *context) {
  item *one = context;
  fuzz_queue *queue = one->queue;
  atomic_fetch_add(&queue->items_begun, 1);
  bool alone = queue->is_serial || one->is_barrier;
  if (alone) {
    CHECK_EQUAL(atomic_fetch_add(&queue->alone, 1), 0);
    CHECK_EQUAL(queue->shared, 0);
  } else {
    int inside = atomic_fetch_add(&queue->shared, 1) + 1;
    CHECK(queue->width == 0 || inside <= queue->width || !is_beyond);
    CHECK_EQUAL(queue->alone, 0);
  }
  if (queue->is_serial && one->number) {
    int before = atomic_exchange(&queue->last_started[one->submitter], one->number);
    CHECK(before < one->number);
  }
  for (volatile int n = 0; n < (int)(one->random % 300); n++) { }
  // Yields, so that other items may overlap with this one.
  for (int n = queue->width ? 5 : 0; n > 0; n--) sched_yield();
  if (one->nests) nest(one);
  CHECK_EQUAL(atomic_fetch_add(&one->runs, 1), 0);
  if (alone) atomic_fetch_sub(&queue->alone, 1);
  else atomic_fetch_sub(&queue->shared, 1);
  atomic_fetch_add(&queue->items_ended, 1);
  dispatch_group_leave(everything);
}

static void submit(fuzz_queue *queue, item *one, bool waits) {
  dispatch_queue_t handle = queue->handle;
#ifdef __BLOCKS__
  if (one->random & 1 << 20) {
    void (^block)(void) = ^{ run_item(one); };
    if (waits) (one->is_barrier ? dispatch_barrier_sync : dispatch_sync)(handle, block);
    else (one->is_barrier ? dispatch_barrier_async : dispatch_async)(handle, block);
    return;
  }
#endif
  if (waits)
    (one->is_barrier ? dispatch_barrier_sync_f : dispatch_sync_f)(handle, one, run_item);
  else
    (one->is_barrier ? dispatch_barrier_async_f : dispatch_async_f)(handle, one, run_item);
}

// Submits more work from inside an item: to any queue, or to a later family if it waits.
static void nest(item *one) {
  uint64_t random = one->random;
  int target = below(&random, QUEUES);
  bool waits = queues[target].family > one->queue->family && below(&random, 2);
  item *inner = new_item(
    &queues[target], one->submitter, below(&random, 4) == 0, false, next_random(&random));
  submit(&queues[target], inner, waits);
  if (waits) CHECK_EQUAL(inner->runs, 1);
}

// MARK: Steps of a thread

static void note_notification(void *context) {
  atomic_fetch_add(&((fuzz_group *)context)->notified, 1);
  dispatch_group_leave(everything);
}

static void visit(void *context, size_t number) {
  atomic_fetch_add((_Atomic long *)context, (long)number + 1);
}

static void step_submit(int thread, uint64_t *random, bool waits) {
  fuzz_queue *queue = &queues[below(random, QUEUES)];
  item *one =
    new_item(queue, thread, below(random, 4) == 0, below(random, 3) == 0, next_random(random));
  if (!waits) one->number = ++queue->submitted[thread];
  submit(queue, one, waits);
  if (waits) CHECK_EQUAL(one->runs, 1);
}

static void step_group(int thread, uint64_t *random) {
  fuzz_group *group = &groups[below(random, GROUPS)];
  fuzz_queue *queue = &queues[below(random, QUEUES)];
  item *one = new_item(queue, thread, false, false, next_random(random));
  dispatch_group_async_f(group->handle, queue->handle, one, run_item);
  if (below(random, 2)) {
    atomic_fetch_add(&group->notifications, 1);
    dispatch_group_enter(everything);
    dispatch_group_notify_f(
      group->handle, queues[below(random, QUEUES)].handle, group, note_notification);
  }
  if (below(random, 4) == 0)
    (void)dispatch_group_wait(
      group->handle,
      below(random, 2) ? DISPATCH_TIME_NOW : dispatch_time(DISPATCH_TIME_NOW, 50000));
}

static void step_suspend(int thread, uint64_t *random) {
  fuzz_queue *queue = &queues[below(random, QUEUES)];
  int depth = 1 + below(random, 3);
  for (int n = 0; n < depth; n++) dispatch_suspend(queue->handle);
  for (int n = below(random, 4); n >= 0; n--) {
    item *one = new_item(queue, thread, below(random, 4) == 0, false, next_random(random));
    one->number = ++queue->submitted[thread];
    submit(queue, one, false);
  }
  for (int n = 0; n < depth; n++) dispatch_resume(queue->handle);
}

static void step_width(uint64_t *random) {
  fuzz_queue *queue = &queues[below(random, QUEUES)];
  if (queue->width) dispatch_queue_set_width(queue->handle, 2 + below(random, queue->width - 1));
}

static void step_semaphore(uint64_t *random) {
  dispatch_time_t until = DISPATCH_TIME_FOREVER;
  if (below(random, 3) == 0) until = dispatch_time(DISPATCH_TIME_NOW, below(random, 100000));
  if (dispatch_semaphore_wait(permits, until)) return;
  CHECK(atomic_fetch_add(&permits_taken, 1) < PERMITS);
  // Yields, so that other threads may hold permits at the same time.
  for (int n = 0; n < 5; n++) sched_yield();
  atomic_fetch_sub(&permits_taken, 1);
  dispatch_semaphore_signal(permits);
}

#include "Passing.h"

static void take_random_step(int thread, uint64_t *random) {
  switch (below(random, 16)) {
  case 0: case 1: case 2: case 3: step_submit(thread, random, false); break;
  case 4: case 5: step_submit(thread, random, true); break;
  case 6: step_group(thread, random); break;
  case 7: step_suspend(thread, random); break;
  case 8: step_semaphore(random); break;
  case 9: {
    unsigned long value = 1 + (unsigned long)below(random, 100);
    atomic_fetch_add(&added, value);
    dispatch_source_merge_data(adder, value);
    break;
  }
  case 10: {
    fuzz_queue *queue = &queues[below(random, QUEUES)];
    item *one = new_item(queue, thread, false, false, next_random(random));
    dispatch_after_f(
      dispatch_time(DISPATCH_TIME_NOW, below(random, 3000000)), queue->handle, one, run_item);
    break;
  }
  case 11: {
    _Atomic long sum = 0;
    long count = below(random, 40);
    dispatch_apply_f((size_t)count, DISPATCH_APPLY_AUTO, &sum, visit);
    CHECK_EQUAL(sum, count * (count + 1) / 2);
    break;
  }
  case 12: step_width(random); break;
  case 13: step_passing_queue(random); break;
  case 14: step_passing_source(random); break;
  case 15: step_passing_group(random); break;
  }
}

typedef struct thread_start {
  int number;
  uint64_t random;
} thread_start;
static void *run_thread(void *context) {
  thread_start *start = context;
  for (int n = 0; n < STEPS; n++) take_random_step(start->number, &start->random);
  return NULL;
}

// MARK: From beginning to end

static void on_added(void *context) {
  (void)context;
  unsigned long sum = atomic_fetch_add(&delivered, dispatch_source_get_data(adder));
  sum += dispatch_source_get_data(adder);
  CHECK(sum <= added);
  if (is_over && sum == added) latch_down(&all_delivered);
}

static void on_finalizer(void *context) {
  fuzz_queue *queue = context;
  CHECK_EQUAL(queue->items_begun, queue->items_ended);
  latch_down(&queue->finalized);
}

static void make_world(uint64_t *random) {
  everything = dispatch_group_create();
  permits = dispatch_semaphore_create(PERMITS);
  for (int n = 0; n < QUEUES; n++) {
    fuzz_queue *queue = &queues[n];
    queue->family = n % FAMILIES;
    queue->is_serial = below(random, 2);
    queue->finalized = (latch)LATCH(1);
    // A queue targets an earlier queue of its family.
    dispatch_queue_t target = NULL;
    if (n >= FAMILIES && below(random, 3)) target = queues[n - FAMILIES].handle;
    queue->handle = dispatch_queue_create_with_target(
      "fuzz", queue->is_serial ? DISPATCH_QUEUE_SERIAL : DISPATCH_QUEUE_CONCURRENT, target);
    if (!queue->is_serial && below(random, 2)) {
      queue->width = 2 + below(random, 2);
      dispatch_queue_set_width(queue->handle, queue->width);
    }
    dispatch_set_context(queue->handle, queue);
    dispatch_set_finalizer_f(queue->handle, on_finalizer);
  }
  for (int n = 0; n < GROUPS; n++) groups[n].handle = dispatch_group_create();
  adder = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_source_set_event_handler_f(adder, on_added);
  dispatch_activate(adder);
}

static void run_world(uint64_t *random) {
  pthread_t threads[THREADS];
  static thread_start starts[THREADS];
  for (int n = 0; n < THREADS; n++) {
    starts[n] = (thread_start){n, next_random(random)};
    CHECK(!pthread_create(&threads[n], NULL, run_thread, &starts[n]));
  }
  for (int n = 0; n < THREADS; n++) CHECK(!pthread_join(threads[n], NULL));
  CHECK_EQUAL(dispatch_group_wait(everything, deadline()), 0);
  // Adds one more event, which completes the sum.
  atomic_fetch_add(&added, 1);
  atomic_store(&is_over, true);
  dispatch_source_merge_data(adder, 1);
  latch_wait(&all_delivered);
}

static void end_world(void) {
  for (int n = 0; n < item_count; n++) CHECK_EQUAL(items[n].runs, 1);
  for (int n = 0; n < GROUPS; n++) {
    // An item leaves its group after its function returns, so after it has left `everything`.
    CHECK_EQUAL(dispatch_group_wait(groups[n].handle, deadline()), 0);
    CHECK_EQUAL(groups[n].notified, groups[n].notifications);
    dispatch_release(groups[n].handle);
  }
  CHECK_EQUAL(delivered, added);
  dispatch_source_cancel(adder);
  dispatch_release(adder);
  dispatch_release(permits);
  // Later queues target earlier ones and retain them.
  for (int n = 0; n < QUEUES; n++) dispatch_release(queues[n].handle);
  for (int n = 0; n < QUEUES; n++) latch_wait(&queues[n].finalized);
  dispatch_release(everything);
}

CASE(fuzz) {
  const char *text = getenv("FUZZ_SEED");
  uint64_t random = text ? strtoull(text, NULL, 10) : 1;
  is_beyond = getenv("FUZZ_BEYOND");
  make_world(&random);
  run_world(&random);
  end_world();
}
