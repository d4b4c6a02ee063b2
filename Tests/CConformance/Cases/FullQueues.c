// A concurrent queue with more items than a library lets in at the same time, which is 3,000 for
// this one and 4,094 on Apple's systems. Each program here needs few of them at once.
#include "../Private.h"
#include "../Check.h"

enum { FULL = 3000 };

static dispatch_queue_t queue;
static counter nested, plain;
static latch submitted = LATCH(1);

static void item(void *context) {
  latch_wait(&submitted);
  if ((intptr_t)context % 20 != 0) dispatch_sync_f(queue, &nested, count_up);
  count_up(&plain);
}

CASE(items_of_a_full_queue_call_sync_on_it) {
  enum { COUNT = FULL + 5 };
  queue = concurrent_queue();
  dispatch_group_t group = dispatch_group_create();
  for (intptr_t n = 0; n < COUNT; n++) dispatch_group_async_f(group, queue, (void *)n, item);
  latch_down(&submitted);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  CHECK_EQUAL(plain.value, COUNT);
  CHECK_EQUAL(nested.value, COUNT - (COUNT + 19) / 20);
}

// As a cache does whose items call its own reader. There are more of them than threads, so none may
// wait for those that have not begun.
static void read_own_queue(void *context) {
  dispatch_sync_f(queue, &nested, count_up);
  dispatch_sync_f(context, &plain, count_up);
}

static void expect_inside(dispatch_queue_t submitted_to, dispatch_function_t item) {
  enum { COUNT = FULL + 600 };
  dispatch_group_t group = dispatch_group_create();
  dispatch_suspend(queue);
  for (int n = 0; n < COUNT; n++) {
    dispatch_group_async_f(group, submitted_to, submitted_to, item);
  }
  dispatch_resume(queue);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  CHECK_EQUAL(nested.value, COUNT);
  CHECK_EQUAL(plain.value, COUNT);
  dispatch_barrier_sync_f(queue, &plain, count_up);
  CHECK_EQUAL(plain.value, COUNT + 1);
}

CASE(more_items_than_fit_read_their_own_queue) {
  queue = concurrent_queue();
  expect_inside(queue, read_own_queue);
}

CASE(more_items_than_fit_read_their_queue_and_its_target) {
  queue = concurrent_queue();
  expect_inside(
    dispatch_queue_create_with_target("child", DISPATCH_QUEUE_CONCURRENT, queue), read_own_queue);
}

static void wait_for_own_queue(void *context) {
  dispatch_async_and_wait_f(queue, &nested, count_up);
  dispatch_async_and_wait_f(context, &plain, count_up);
}

CASE(more_items_than_fit_wait_for_items_of_their_own_queue) {
  queue = concurrent_queue();
  expect_inside(queue, wait_for_own_queue);
}

// A reader that is inside a queue of limited width waits for a permit, so it keeps no item out that
// it needs itself.
static latch first_inside = LATCH(2), may_nest = LATCH(1), may_end = LATCH(1);
static dispatch_semaphore_t third_ran;

static void wait_for_third(void *context) {
  (void)context;
  CHECK_EQUAL(dispatch_semaphore_wait(third_ran, deadline()), 0);
}
static void nest(void *context) {
  (void)context;
  latch_down(&first_inside);
  latch_wait(&may_nest);
  latch_down(&may_end);
  dispatch_sync_f(queue, NULL, wait_for_third);
}
static void end_after_it(void *context) {
  (void)context;
  latch_down(&first_inside);
  latch_wait(&may_end);
}
static void signal_third(void *context) {
  (void)context;
  dispatch_semaphore_signal(third_ran);
}
static void nothing(void *context) { (void)context; }

CASE(a_reader_inside_a_narrow_queue_keeps_no_item_out) {
  third_ran = dispatch_semaphore_create(0);
  queue = concurrent_queue();
  dispatch_queue_set_width(queue, 2);
  dispatch_barrier_sync_f(queue, NULL, nothing);
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async_f(group, queue, NULL, nest);
  dispatch_group_async_f(group, queue, NULL, end_after_it);
  latch_wait(&first_inside);
  dispatch_group_async_f(group, queue, NULL, signal_third);
  latch_down(&may_nest);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
}

// Readers fill the queue, and a few leave. The others wait for an item, which then has room.
static latch inside = LATCH(FULL), few_may_leave = LATCH(1), item_ran = LATCH(1);

static void stay(void *context) {
  latch_down(&inside);
  latch_wait((intptr_t)context < 20 ? &few_may_leave : &item_ran);
}

static void *read_queue(void *context) {
  dispatch_sync_f(queue, context, stay);
  return NULL;
}

CASE(an_item_runs_when_a_few_of_many_readers_have_left) {
  static pthread_t readers[FULL];
  queue = concurrent_queue();
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  int count = 0;
  while (count < FULL &&
    !pthread_create(&readers[count], &small, read_queue, (void *)(intptr_t)count)) {
    count++;
  }
  for (int n = count; n < FULL; n++) latch_down(&inside);
  latch_wait(&inside);
  dispatch_async_f(queue, &item_ran, open_latch);
  latch_down(&few_may_leave);
  latch_wait(&item_ran);
  for (int n = 0; n < count; n++) CHECK_EQUAL(pthread_join(readers[n], NULL), 0);
}

// Items of a backlog start in the order in which they were submitted, but for those that a thread
// has taken together.
enum { BACKLOG = 8000 };
static _Atomic int place_of[BACKLOG];
static atomic_int places;

static void take_place(void *context) {
  place_of[(intptr_t)context] = atomic_fetch_add(&places, 1);
  int64_t end = monotonic_now() + 20 * (int64_t)NSEC_PER_USEC;
  while (monotonic_now() < end) {}
}

static void expect_order(unsigned class) {
  dispatch_group_t group = dispatch_group_create();
  queue = dispatch_queue_create(
    "backlog", dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_CONCURRENT, class, 0));
  for (intptr_t n = 0; n < BACKLOG; n++) {
    dispatch_group_async_f(group, queue, (void *)n, take_place);
  }
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  int late = 0;
  for (int n = 0; n < BACKLOG; n++) late += place_of[n] > n + 1000;
  CHECK(late < BACKLOG / 10);
}

CASE(items_of_a_backlog_start_in_order) { expect_order(0x15); }
CASE(items_of_a_backlog_start_in_order_in_the_background) { expect_order(0x09); }

// Items of different classes, barriers and readers beside each other, several times what fits.
static atomic_int running, last_barrier;
static counter begun;

static void count_item(void *context) {
  (void)context;
  atomic_fetch_add(&running, 1);
  count_up(&begun);
  atomic_fetch_sub(&running, 1);
}

static void be_alone(void *context) {
  CHECK_EQUAL(running, 0);
  int number = (int)(intptr_t)context;
  CHECK_EQUAL(atomic_exchange(&last_barrier, number), number - 1);
}

CASE(a_backlog_keeps_its_barriers_in_order) {
  enum { ROUNDS = 4, EACH = 3 * FULL };
  // Utility, default, user-initiated; the toolchain has no names for them in C.
  static const unsigned classes[] = {0x11, 0x15, 0x19};
  queue = concurrent_queue();
  dispatch_queue_t urgent[3];
  for (int n = 0; n < 3; n++) {
    dispatch_queue_attr_t attributes =
      dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_CONCURRENT, classes[n], 0);
    urgent[n] = dispatch_queue_create_with_target("sender", attributes, queue);
  }
  dispatch_suspend(queue);
  for (int round = 0; round < ROUNDS; round++) {
    for (int n = 0; n < EACH; n++) {
      // The senders pass their items on in groups of their own; a barrier of the queue does not
      // wait for what they still hold.
      dispatch_async_f(n % 2 ? urgent[n % 3] : queue, NULL, count_item);
    }
    dispatch_barrier_async_f(queue, (void *)(intptr_t)(round + 1), be_alone);
  }
  dispatch_resume(queue);
  dispatch_barrier_sync_f(queue, (void *)(intptr_t)(ROUNDS + 1), be_alone);
  for (int n = 0; n < 3; n++) {
    dispatch_barrier_sync_f(urgent[n], NULL, count_item);
    dispatch_release(urgent[n]);
  }
  CHECK_EQUAL(begun.value, ROUNDS * EACH + 3);
  dispatch_release(queue);
}
