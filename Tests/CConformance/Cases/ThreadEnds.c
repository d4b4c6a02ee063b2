// Threads that end: the main thread, and threads inside items.
#include "../Check.h"

#include <sys/prctl.h>

static void *end_thread(void *context) {
  (void)context;
  pthread_exit(NULL);
}
static void end_worker(void *context) { end_thread(context); }
static void ignore(void *context) { (void)context; }

// MARK: The main thread

static pthread_t main_thread;

static void wait_for_main_queue(void *context) {
  static latch ran = LATCH(1);
  static counter count;
  (void)context;
  dispatch_async_f(dispatch_get_main_queue(), &ran, open_latch);
  latch_wait(&ran);
  dispatch_sync_f(dispatch_get_main_queue(), &count, count_up);
  CHECK_EQUAL(count.value, 1);
  _exit(0);
}

CASE(destructor_older_than_the_first_queue_waits_for_the_main_queue) {
  static pthread_key_t key;
  CHECK(!pthread_key_create(&key, wait_for_main_queue));
  CHECK(!pthread_setspecific(key, &key));
  drain(serial_queue());
  pthread_exit(NULL);
}

static void *outlive_main_thread(void *used) {
  static latch early = LATCH(1), late = LATCH(1);
  drain(serial_queue());
  dispatch_async_f(dispatch_get_main_queue(), &early, open_latch);
  latch_down(used);
  CHECK(!pthread_join(main_thread, NULL));
  latch_wait(&early);
  dispatch_async_f(dispatch_get_main_queue(), &late, open_latch);
  latch_wait(&late);
  _exit(0);
}

CASE(main_queue_outlives_a_main_thread_that_never_used_the_library) {
  static latch used = LATCH(1);
  pthread_t thread;
  main_thread = pthread_self();
  CHECK(!pthread_create(&thread, NULL, outlive_main_thread, &used));
  latch_wait(&used);
  pthread_exit(NULL);
}

// The case passes because its process ends: that has no thread of its own left, and the workers end
// when they have been idle for some seconds.
CASE(process_ends_with_its_last_worker) {
  for (int number = 0; number < 10; number++) {
    dispatch_async_f(serial_queue(), NULL, ignore);
  }
  dispatch_async_f(dispatch_get_main_queue(), NULL, ignore);
  pthread_exit(NULL);
}

static void fail_at_exit(void) { _exit(1); }
static void end_well(void *context) {
  (void)context;
  _exit(0);
}

// The idle workers are gone when the timer fires.
CASE(timer_keeps_a_process_without_other_threads) {
  CHECK(!atexit(fail_at_exit));
  drain(serial_queue());
  dispatch_time_t later = dispatch_time(DISPATCH_TIME_NOW, 9 * (int64_t)NSEC_PER_SEC);
  dispatch_after_f(later, serial_queue(), NULL, end_well);
  pthread_exit(NULL);
}

// MARK: Threads inside items

static void *end_inside(void *queue) {
  dispatch_sync_f(queue, NULL, end_worker);
  return NULL;
}

static void *be_outside(void *queue) {
  dispatch_assert_queue_not(queue);
  return NULL;
}

BEYOND(thread_that_ends_inside_a_sync_is_no_later_thread, "the peer stops the process") {
  for (int round = 0; round < 3; round++) {
    dispatch_queue_t queue = serial_queue();
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, end_inside, queue));
    CHECK(!pthread_join(thread, NULL));
    CHECK(!pthread_create(&thread, NULL, be_outside, queue));
    CHECK(!pthread_join(thread, NULL));
  }
}

BEYOND(workers_that_end_inside_items_are_replaced, "the peer stops the process") {
  static latch done = LATCH(1);
  dispatch_queue_t low = dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_LOW, 0);
  for (int number = 0; number < 60; number++) {
    dispatch_async_f(number % 3 ? global_queue() : low, NULL, end_worker);
    dispatch_async_f(serial_queue(), NULL, end_worker);
  }
  dispatch_async_f(low, &done, open_latch);
  latch_wait(&done);
}

static _Atomic long slack_of_item;
static latch slack_known = LATCH(8);

static void note_slack(void *together) {
  long slack = prctl(PR_GET_TIMERSLACK, 0ul, 0ul, 0ul, 0ul), most = slack_of_item;
  while (slack > most && !atomic_compare_exchange_weak(&slack_of_item, &most, slack)) {}
  latch_down(together);
  // All are on threads of their own.
  latch_wait(together);
  latch_down(&slack_known);
}

// The thread of the last one replaces a thread that has ended so, and so may those that it starts.
static void end_low_worker(void *left) {
  static latch together = LATCH(8);
  if (atomic_fetch_sub((_Atomic int *)left, 1) == 1) {
    for (int number = 0; number < 8; number++) {
      dispatch_async_f(global_queue(), &together, note_slack);
    }
  }
  end_thread(NULL);
}

BEYOND(workers_that_end_inside_items_leave_no_timer_slack, "the peer stops the process") {
  static _Atomic int left = 60;
  long slack = prctl(PR_GET_TIMERSLACK, 0ul, 0ul, 0ul, 0ul);
  dispatch_queue_t low = dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_BACKGROUND, 0);
  for (int number = 0; number < 60; number++) dispatch_async_f(low, &left, end_low_worker);
  latch_wait(&slack_known);
  CHECK_EQUAL(slack_of_item, slack);
}

static void end_in_handler(void *fired) {
  latch_down(fired);
  end_thread(NULL);
}

BEYOND(handlers_that_end_their_thread_end_no_timers, "the peer stops the process") {
  for (int round = 0; round < 6; round++) {
    latch *fired = malloc(sizeof *fired);
    *fired = (latch)LATCH(2);
    dispatch_source_t timer =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, global_queue());
    dispatch_set_context(timer, fired);
    dispatch_source_set_event_handler_f(timer, end_in_handler);
    dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, DISPATCH_TIME_FOREVER, 0);
    dispatch_activate(timer);
    dispatch_after_f(
      dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC), global_queue(), fired, end_in_handler);
    latch_wait(fired);
  }
}
