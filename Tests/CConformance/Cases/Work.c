// Submitting work and waiting for it.
#include "../Check.h"

CASE(async_f_runs_in_order_on_a_serial_queue) {
  enum { COUNT = 1000 };
  static journal order = JOURNAL;
  static step steps[COUNT];
  dispatch_queue_t queue = serial_queue();
  for (int n = 0; n < COUNT; n++) {
    steps[n] = (step){&order, n, NULL};
    dispatch_async_f(queue, &steps[n], take_step);
  }
  drain(queue);
  CHECK_EQUAL(order.count, COUNT);
  for (int n = 0; n < COUNT; n++) CHECK_EQUAL(order.entries[n], n);
  dispatch_release(queue);
}

static _Atomic int inside;
static void be_alone(void *context) {
  CHECK_EQUAL(atomic_fetch_add(&inside, 1), 0);
  for (volatile int n = 0; n < 200; n++) { }
  atomic_fetch_sub(&inside, 1);
  latch_down(context);
}

static dispatch_queue_t contended;
static latch all_alone;
static void *submit_some(void *context) {
  for (int n = 0; n < 1000; n++) dispatch_async_f(contended, &all_alone, be_alone);
  return context;
}

CASE(serial_queue_runs_one_item_at_a_time) {
  contended = serial_queue();
  all_alone = (latch)LATCH(8000);
  pthread_t threads[8];
  for (int n = 0; n < 8; n++) CHECK(!pthread_create(&threads[n], NULL, submit_some, NULL));
  for (int n = 0; n < 8; n++) CHECK(!pthread_join(threads[n], NULL));
  latch_wait(&all_alone);
}

static latch *gate, *arrived;
static void meet(void *context) {
  (void)context;
  latch_down(arrived);
  latch_wait(gate);
}

CASE(async_returns_before_the_work_is_done) {
  static latch closed = LATCH(1), inside_it = LATCH(1);
  gate = &closed, arrived = &inside_it;
  dispatch_queue_t queue = serial_queue();
  dispatch_async_f(queue, NULL, meet);
  latch_wait(&inside_it);
  latch_down(&closed);
  drain(queue);
  dispatch_release(queue);
}

CASE(different_queues_run_at_the_same_time) {
  static latch closed = LATCH(1), inside_it = LATCH(2);
  gate = &closed, arrived = &inside_it;
  dispatch_queue_t one = serial_queue(), other = serial_queue();
  dispatch_async_f(one, NULL, meet);
  dispatch_async_f(other, NULL, meet);
  latch_wait(&inside_it);
  latch_down(&closed);
  drain(one);
  drain(other);
  dispatch_release(one);
  dispatch_release(other);
}

CASE(concurrent_queue_overlaps_its_items) {
  static latch closed = LATCH(1), inside_it = LATCH(3);
  gate = &closed, arrived = &inside_it;
  dispatch_queue_t queue = concurrent_queue();
  for (int n = 0; n < 3; n++) dispatch_async_f(queue, NULL, meet);
  latch_wait(&inside_it);
  latch_down(&closed);
  dispatch_barrier_sync_f(queue, &(counter){0}, count_up);
  dispatch_release(queue);
}

CASE(more_threads_come_when_items_block) {
  enum { COUNT = 40 };
  static latch closed = LATCH(1), inside_it = LATCH(COUNT);
  gate = &closed, arrived = &inside_it;
  dispatch_group_t group = dispatch_group_create();
  for (int n = 0; n < COUNT; n++) {
    dispatch_queue_t queue = serial_queue();
    dispatch_group_async_f(group, queue, NULL, meet);
    dispatch_release(queue);
  }
  latch_wait(&inside_it);
  latch_down(&closed);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  dispatch_release(group);
}

static pthread_t ran_on;
static void note_thread(void *context) {
  ran_on = pthread_self();
  if (context) count_up(context);
}

CASE(sync_f_returns_when_the_work_is_done_on_this_thread) {
  static counter ran;
  dispatch_queue_t queue = serial_queue();
  dispatch_sync_f(queue, &ran, note_thread);
  CHECK_EQUAL(ran.value, 1);
  CHECK(pthread_equal(ran_on, pthread_self()));
  dispatch_sync_f(global_queue(), &ran, note_thread);
  CHECK_EQUAL(ran.value, 2);
  dispatch_release(queue);
}

CASE(sync_f_comes_after_what_was_submitted_before) {
  static journal order = JOURNAL;
  static step first = {&order, 1, NULL}, second = {&order, 2, NULL};
  dispatch_queue_t queue = serial_queue();
  for (int n = 0; n < 100; n++) {
    order.count = 0;
    dispatch_async_f(queue, &first, take_step);
    dispatch_sync_f(queue, &second, take_step);
    journal_expect(&order, 1, 2);
  }
  dispatch_release(queue);
}

static void sync_onto(void *context) {
  static counter ran;
  dispatch_sync_f((dispatch_queue_t)context, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}

CASE(sync_onto_another_queue_from_inside_one) {
  dispatch_queue_t outer = serial_queue(), inner = serial_queue();
  dispatch_sync_f(outer, inner, sync_onto);
  dispatch_release(outer);
  dispatch_release(inner);
}

static long unguarded;
static void add_one(void *context) {
  (void)context;
  unguarded++;
}
static void *sync_some(void *context) {
  for (int n = 0; n < 5000; n++) dispatch_sync_f((dispatch_queue_t)context, NULL, add_one);
  return NULL;
}

CASE(sync_is_mutual_exclusion) {
  dispatch_queue_t queue = serial_queue();
  pthread_t threads[4];
  for (int n = 0; n < 4; n++) CHECK(!pthread_create(&threads[n], NULL, sync_some, queue));
  for (int n = 0; n < 4; n++) CHECK(!pthread_join(threads[n], NULL));
  CHECK_EQUAL(unguarded, 20000);
  dispatch_release(queue);
}

STOPS(sync_onto_the_own_queue_stops, "conformance.serial") {
  dispatch_queue_t queue = serial_queue();
  dispatch_sync_f(queue, queue, sync_onto);
}

STOPS(sync_onto_the_own_target_stops, "conformance.serial") {
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t top = dispatch_queue_create_with_target("conformance.top", NULL, bottom);
  dispatch_sync_f(top, bottom, sync_onto);
}

#ifdef __BLOCKS__
CASE(async_runs_a_block) {
  static latch done = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  int captured = 42;
  __block int seen = 0;
  dispatch_async(queue, ^{
    seen = captured;
    latch_down(&done);
  });
  latch_wait(&done);
  CHECK_EQUAL(seen, 42);
  dispatch_release(queue);
}

CASE(sync_runs_a_block_in_place) {
  dispatch_queue_t queue = serial_queue();
  __block int seen = 0;
  dispatch_sync(queue, ^{ seen = 1; });
  CHECK_EQUAL(seen, 1);
  dispatch_release(queue);
}
#endif
