// Barriers: exclusive on a private concurrent queue, ordinary items on every other queue.
#include "../Check.h"

static latch *gate, *arrived;
static _Atomic int readers, writers;
static journal order = JOURNAL;

static void read_and_wait(void *context) {
  atomic_fetch_add(&readers, 1);
  CHECK_EQUAL(writers, 0);
  latch_down(arrived);
  latch_wait(gate);
  journal_add(&order, (int)(intptr_t)context);
  atomic_fetch_sub(&readers, 1);
}
static void write_alone(void *context) {
  CHECK_EQUAL(atomic_fetch_add(&writers, 1), 0);
  CHECK_EQUAL(readers, 0);
  journal_add(&order, (int)(intptr_t)context);
  atomic_fetch_sub(&writers, 1);
}
static void read_only(void *context) {
  CHECK_EQUAL(writers, 0);
  journal_add(&order, (int)(intptr_t)context);
}

#define NUMBER(value) ((void *)(intptr_t)(value))

CASE(barrier_async_f_waits_for_all_before_and_holds_up_all_after) {
  static latch closed = LATCH(1), inside = LATCH(2);
  gate = &closed, arrived = &inside;
  dispatch_queue_t queue = concurrent_queue();
  dispatch_async_f(queue, NUMBER(1), read_and_wait);
  dispatch_async_f(queue, NUMBER(1), read_and_wait);
  dispatch_barrier_async_f(queue, NUMBER(2), write_alone);
  dispatch_async_f(queue, NUMBER(3), read_only);
  latch_wait(&inside);
  CHECK_EQUAL(journal_count(&order), 0);
  latch_down(&closed);
  dispatch_barrier_sync_f(queue, NUMBER(4), write_alone);
  journal_expect(&order, 1, 1, 2, 3, 4);
  dispatch_release(queue);
}

static dispatch_queue_t shared;
static long unguarded;
static void change(void *context) {
  (void)context;
  CHECK_EQUAL(atomic_fetch_add(&writers, 1), 0);
  unguarded++;
  atomic_fetch_sub(&writers, 1);
}
static void look(void *context) {
  (void)context;
  CHECK_EQUAL(writers, 0);
}
static void *read_and_write(void *context) {
  for (int n = 0; n < 2000; n++) {
    if (n % 8 == 0) dispatch_barrier_async_f(shared, NULL, change);
    else if (n % 8 == 1) dispatch_barrier_sync_f(shared, NULL, change);
    else dispatch_sync_f(shared, NULL, look);
  }
  return context;
}

CASE(readers_and_writers_never_meet) {
  shared = concurrent_queue();
  pthread_t threads[4];
  for (int n = 0; n < 4; n++) CHECK(!pthread_create(&threads[n], NULL, read_and_write, NULL));
  for (int n = 0; n < 4; n++) CHECK(!pthread_join(threads[n], NULL));
  dispatch_barrier_sync_f(shared, NULL, look);
  CHECK_EQUAL(unguarded, 4 * 2000 / 4);
}

CASE(barrier_on_a_global_queue_is_ordinary_work) {
  static latch closed = LATCH(1), inside = LATCH(1);
  static counter ran;
  gate = &closed, arrived = &inside;
  dispatch_async_f(global_queue(), NUMBER(1), read_and_wait);
  latch_wait(&inside);
  dispatch_barrier_sync_f(global_queue(), &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  latch_down(&closed);
}

CASE(barrier_on_a_serial_queue_is_ordinary_work) {
  dispatch_queue_t queue = serial_queue();
  dispatch_async_f(queue, NUMBER(1), read_only);
  dispatch_barrier_async_f(queue, NUMBER(2), read_only);
  dispatch_async_f(queue, NUMBER(3), read_only);
  dispatch_barrier_sync_f(queue, NUMBER(4), read_only);
  journal_expect(&order, 1, 2, 3, 4);
  dispatch_release(queue);
}

#ifdef __BLOCKS__
CASE(barrier_blocks_run) {
  dispatch_queue_t queue = concurrent_queue();
  __block int value = 0;
  dispatch_barrier_async(queue, ^{ value = 1; });
  dispatch_barrier_sync(queue, ^{ value = value * 10 + 2; });
  CHECK_EQUAL(value, 12);
  dispatch_release(queue);
}

CASE(barrier_block_object_is_a_barrier) {
  static latch closed = LATCH(1), inside = LATCH(2);
  gate = &closed, arrived = &inside;
  dispatch_queue_t queue = concurrent_queue();
  dispatch_async_f(queue, NUMBER(1), read_and_wait);
  dispatch_async_f(queue, NUMBER(1), read_and_wait);
  dispatch_block_t barrier = dispatch_block_create(DISPATCH_BLOCK_BARRIER, ^{
    write_alone(NUMBER(2));
  });
  dispatch_async(queue, barrier);
  dispatch_async_f(queue, NUMBER(3), read_only);
  latch_wait(&inside);
  latch_down(&closed);
  dispatch_barrier_sync_f(queue, NUMBER(4), write_alone);
  journal_expect(&order, 1, 1, 2, 3, 4);
  dispatch_release(queue);
}
#endif
