// Sources that the program itself signals, and rules for sources of every type: when they start,
// which handler runs, how they end.
#include "../Check.h"

// The context of one source: what its handlers saw.
typedef struct watch {
  dispatch_source_t source;
  _Atomic unsigned long sum, last;
  _Atomic int events, inside;
  latch *happened, *cancelled, *registered;
} watch;

static void on_event(void *context) {
  watch *one = context;
  CHECK_EQUAL(atomic_fetch_add(&one->inside, 1), 0);
  unsigned long data = dispatch_source_get_data(one->source);
  one->last = data;
  atomic_fetch_add(&one->sum, data);
  atomic_fetch_add(&one->events, 1);
  atomic_fetch_sub(&one->inside, 1);
  if (one->happened) latch_down(one->happened);
}
static void on_cancel(void *context) { latch_down(((watch *)context)->cancelled); }
static void on_registration(void *context) { latch_down(((watch *)context)->registered); }

static void begin(watch *one, dispatch_source_type_t type, dispatch_queue_t queue) {
  one->source = dispatch_source_create(type, 0, 0, queue);
  CHECK(one->source);
  dispatch_set_context(one->source, one);
  dispatch_source_set_event_handler_f(one->source, on_event);
}

CASE(data_add_tells_the_sum) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  dispatch_queue_t queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, queue);
  dispatch_suspend(queue);
  dispatch_activate(one.source);
  for (int n = 1; n <= 10; n++) dispatch_source_merge_data(one.source, (uintptr_t)n);
  dispatch_resume(queue);
  latch_wait(&happened);
  drain(queue);
  CHECK_EQUAL(one.sum, 55);
  dispatch_source_cancel(one.source);
}

CASE(data_replace_with_0_takes_back_what_waits) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  dispatch_queue_t queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_REPLACE, queue);
  dispatch_suspend(queue);
  dispatch_activate(one.source);
  dispatch_source_merge_data(one.source, 7);
  dispatch_source_merge_data(one.source, 0);
  dispatch_resume(queue);
  // An event that is due comes before this item, or with it.
  drain(queue);
  dispatch_source_merge_data(one.source, 3);
  latch_wait(&happened);
  drain(queue);
  CHECK_EQUAL(one.sum, 3);
  CHECK_EQUAL(one.events, 1);
}

static watch shared;
static latch all_there = LATCH(1);
static void note_sum(void *context) {
  watch *one = context;
  unsigned long data = dispatch_source_get_data(one->source);
  if (atomic_fetch_add(&one->sum, data) + data == 40000) latch_down(&all_there);
  atomic_fetch_add(&one->events, 1);
}
static void *merge_ones(void *context) {
  for (int n = 0; n < 10000; n++) dispatch_source_merge_data(shared.source, 1);
  return context;
}

CASE(data_add_loses_nothing_between_threads) {
  begin(&shared, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  dispatch_source_set_event_handler_f(shared.source, note_sum);
  dispatch_activate(shared.source);
  pthread_t threads[4];
  for (int n = 0; n < 4; n++) CHECK(!pthread_create(&threads[n], NULL, merge_ones, NULL));
  for (int n = 0; n < 4; n++) CHECK(!pthread_join(threads[n], NULL));
  latch_wait(&all_there);
  CHECK_EQUAL(shared.sum, 40000);
  CHECK(shared.events <= 40000);
}

CASE(data_or_tells_all_bits) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  dispatch_queue_t queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_OR, queue);
  dispatch_activate(one.source);
  dispatch_suspend(one.source);
  dispatch_source_merge_data(one.source, 1);
  dispatch_source_merge_data(one.source, 8);
  dispatch_source_merge_data(one.source, 1);
  dispatch_resume(one.source);
  latch_wait(&happened);
  CHECK_EQUAL(one.last, 9);
}

CASE(data_replace_tells_the_last_value) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  dispatch_queue_t queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_REPLACE, queue);
  dispatch_activate(one.source);
  dispatch_suspend(one.source);
  dispatch_source_merge_data(one.source, 7);
  dispatch_source_merge_data(one.source, 3);
  dispatch_resume(one.source);
  latch_wait(&happened);
  CHECK_EQUAL(one.last, 3);
  drain(queue);
  CHECK_EQUAL(one.events, 1);
}

CASE(nothing_happens_before_activation) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  dispatch_queue_t other = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  dispatch_source_merge_data(one.source, 5);
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(one.events, 0);
  dispatch_activate(one.source);
  latch_wait(&happened);
  CHECK_EQUAL(one.sum, 5);
}

CASE(resume_activates_an_inactive_source) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  dispatch_resume(one.source);
  dispatch_source_merge_data(one.source, 1);
  latch_wait(&happened);
}

CASE(suspended_source_keeps_merging) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  dispatch_queue_t queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, queue);
  dispatch_activate(one.source);
  dispatch_suspend(one.source);
  for (int n = 0; n < 5; n++) dispatch_source_merge_data(one.source, 2);
  drain(queue);
  CHECK_EQUAL(one.events, 0);
  dispatch_resume(one.source);
  latch_wait(&happened);
  drain(queue);
  CHECK_EQUAL(one.events, 1);
  CHECK_EQUAL(one.sum, 10);
}

CASE(cancel_handler_runs_once_after_the_last_event) {
  static watch one;
  static latch cancelled = LATCH(1);
  one.cancelled = &cancelled;
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  dispatch_source_set_cancel_handler_f(one.source, on_cancel);
  dispatch_activate(one.source);
  CHECK_EQUAL(dispatch_source_testcancel(one.source), 0);
  dispatch_source_cancel(one.source);
  CHECK(dispatch_source_testcancel(one.source) != 0);
  dispatch_source_cancel(one.source);
  latch_wait(&cancelled);
  int events = one.events;
  dispatch_source_merge_data(one.source, 1);
  dispatch_queue_t other = serial_queue();
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(one.events, events);
  CHECK_EQUAL(cancelled.left, 0);
}

CASE(cancel_handler_waits_for_resume) {
  static watch one;
  static latch cancelled = LATCH(1);
  one.cancelled = &cancelled;
  dispatch_queue_t queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, queue);
  dispatch_source_set_cancel_handler_f(one.source, on_cancel);
  dispatch_activate(one.source);
  dispatch_suspend(one.source);
  dispatch_source_cancel(one.source);
  for (int n = 0; n < 100; n++) drain(queue);
  CHECK(!latch_is_open(&cancelled));
  dispatch_resume(one.source);
  latch_wait(&cancelled);
}

CASE(registration_handler_runs_once) {
  static watch one;
  static latch registered = LATCH(1);
  one.registered = &registered;
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  dispatch_source_set_registration_handler_f(one.source, on_registration);
  dispatch_activate(one.source);
  latch_wait(&registered);
}

CASE(function_handlers_get_the_context_of_the_moment) {
  static watch first, second;
  static latch happened = LATCH(1);
  second.happened = &happened;
  begin(&first, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  second.source = first.source;
  dispatch_set_context(first.source, &second);
  dispatch_activate(first.source);
  dispatch_source_merge_data(first.source, 4);
  latch_wait(&happened);
  CHECK_EQUAL(second.sum, 4);
  CHECK_EQUAL(first.events, 0);
}

CASE(source_knows_its_handle_and_mask) {
  pipe_ends ends = make_pipe();
  dispatch_source_t source =
    dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)ends.reader, 0, NULL);
  CHECK_EQUAL(dispatch_source_get_handle(source), ends.reader);
  CHECK_EQUAL(dispatch_source_get_mask(source), 0);
  dispatch_activate(source);
  dispatch_source_cancel(source);
}

static dispatch_queue_t expected_queue;
static void on_queue(void *context) {
  dispatch_assert_queue(expected_queue);
  latch_down(((watch *)context)->happened);
}

CASE(source_goes_to_its_new_target) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  expected_queue = serial_queue();
  begin(&one, DISPATCH_SOURCE_TYPE_DATA_ADD, NULL);
  dispatch_source_set_event_handler_f(one.source, on_queue);
  dispatch_set_target_queue(one.source, expected_queue);
  dispatch_activate(one.source);
  dispatch_source_merge_data(one.source, 1);
  latch_wait(&happened);
}

CASE(finalizer_of_a_source_runs) {
  static latch gone = LATCH(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_set_context(source, &gone);
  dispatch_set_finalizer_f(source, open_latch);
  dispatch_activate(source);
  dispatch_source_cancel(source);
  dispatch_release(source);
  latch_wait(&gone);
}

CASE(inactive_source_may_be_cancelled_and_released) {
  static latch gone = LATCH(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_set_context(source, &gone);
  dispatch_set_finalizer_f(source, open_latch);
  dispatch_source_cancel(source);
  dispatch_activate(source);
  dispatch_release(source);
  latch_wait(&gone);
}

STOPS(merging_into_a_timer_stops, "") {
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, NULL);
  dispatch_source_set_timer(source, DISPATCH_TIME_FOREVER, DISPATCH_TIME_FOREVER, 0);
  dispatch_activate(source);
  dispatch_source_merge_data(source, 1);
}

#ifdef __BLOCKS__
CASE(handlers_may_be_blocks) {
  static latch all = LATCH(3);
  dispatch_queue_t queue = serial_queue();
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, queue);
  __block unsigned long seen = 0;
  dispatch_source_set_registration_handler(source, ^{ latch_down(&all); });
  dispatch_source_set_event_handler(source, ^{
    seen = dispatch_source_get_data(source);
    latch_down(&all);
    dispatch_source_cancel(source);
  });
  dispatch_source_set_cancel_handler(source, ^{ latch_down(&all); });
  dispatch_activate(source);
  dispatch_source_merge_data(source, 12);
  latch_wait(&all);
  CHECK_EQUAL(seen, 12);
  dispatch_release(source);
  dispatch_release(queue);
}

CASE(handlers_may_be_taken_away_and_changed) {
  static latch happened = LATCH(1);
  static counter old;
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_OR, 0, 0, NULL);
  dispatch_source_set_event_handler(source, ^{ count_up(&old); });
  dispatch_source_set_event_handler(source, NULL);
  dispatch_source_set_cancel_handler(source, ^{ count_up(&old); });
  dispatch_source_set_cancel_handler(source, NULL);
  dispatch_source_set_event_handler(source, ^{ latch_down(&happened); });
  dispatch_activate(source);
  dispatch_source_merge_data(source, 1);
  latch_wait(&happened);
  dispatch_source_cancel(source);
  CHECK_EQUAL(old.value, 0);
}

CASE(block_object_may_be_a_handler) {
  static latch happened = LATCH(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_OR, 0, 0, NULL);
  dispatch_source_set_event_handler(source, dispatch_block_create(0, ^{ latch_down(&happened); }));
  dispatch_activate(source);
  dispatch_source_merge_data(source, 1);
  latch_wait(&happened);
}
#endif
