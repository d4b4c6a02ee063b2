// Timers.
#include "../Check.h"

typedef struct clockwork {
  dispatch_source_t source;
  latch *fired, *cancelled;
  _Atomic int events;
  _Atomic unsigned long total;
  _Atomic int64_t first;
} clockwork;

static void on_fire(void *context) {
  clockwork *one = context;
  int64_t now = monotonic_now(), none = 0;
  atomic_compare_exchange_strong(&one->first, &none, now);
  atomic_fetch_add(&one->total, dispatch_source_get_data(one->source));
  atomic_fetch_add(&one->events, 1);
  latch_down(one->fired);
}
static void on_cancel(void *context) { latch_down(((clockwork *)context)->cancelled); }

static void begin(clockwork *one, unsigned long mask, dispatch_queue_t queue) {
  one->source = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, mask, queue);
  CHECK(one->source);
  dispatch_set_context(one->source, one);
  dispatch_source_set_event_handler_f(one->source, on_fire);
  dispatch_source_set_cancel_handler_f(one->source, on_cancel);
}

CASE(timer_fires_once_and_not_early) {
  static clockwork one;
  static latch fired = LATCH(1);
  one.fired = &fired;
  begin(&one, 0, NULL);
  int64_t start = monotonic_now();
  dispatch_source_set_timer(one.source, soon(), DISPATCH_TIME_FOREVER, 0);
  dispatch_activate(one.source);
  latch_wait(&fired);
  CHECK(one.first >= start + 20 * (int64_t)NSEC_PER_MSEC);
  CHECK_EQUAL(one.total, 1);
}

CASE(timer_repeats) {
  static clockwork one;
  static latch fired = LATCH(5);
  one.fired = &fired;
  begin(&one, DISPATCH_TIMER_STRICT, serial_queue());
  int64_t start = monotonic_now();
  dispatch_source_set_timer(one.source, DISPATCH_TIME_NOW, 5 * NSEC_PER_MSEC, 0);
  dispatch_activate(one.source);
  latch_wait(&fired);
  // Five events report at least five firings, and none is reported before it is due.
  CHECK(one.total >= 5);
  CHECK((int64_t)(one.total - 1) * 5 * (int64_t)NSEC_PER_MSEC <= monotonic_now() - start);
}

// A repeating timer waits for others half an interval at most, whatever its leeway.
CASE(timer_repeats_although_its_leeway_is_hours) {
  static clockwork one, other;
  static latch fired = LATCH(5);
  one.fired = &fired;
  begin(&other, 0, serial_queue());
  dispatch_source_set_timer(
    other.source, dispatch_time(DISPATCH_TIME_NOW, 3600 * (int64_t)NSEC_PER_SEC),
    DISPATCH_TIME_FOREVER, 10 * 3600 * NSEC_PER_SEC);
  dispatch_activate(other.source);
  begin(&one, 0, serial_queue());
  dispatch_source_set_timer(
    one.source, DISPATCH_TIME_NOW, 5 * NSEC_PER_MSEC, 10 * 3600 * NSEC_PER_SEC);
  dispatch_activate(one.source);
  latch_wait(&fired);
}

CASE(timer_missed_while_its_queue_is_busy_tells_how_often) {
  static clockwork one;
  static latch fired = LATCH(1);
  one.fired = &fired;
  dispatch_queue_t queue = serial_queue();
  begin(&one, 0, queue);
  dispatch_source_set_timer(one.source, DISPATCH_TIME_NOW, NSEC_PER_MSEC, 0);
  dispatch_suspend(queue);
  dispatch_activate(one.source);
  static latch later = LATCH(1);
  dispatch_after_f(
    dispatch_time(DISPATCH_TIME_NOW, 30 * (int64_t)NSEC_PER_MSEC), global_queue(), &later,
    open_latch);
  latch_wait(&later);
  dispatch_resume(queue);
  latch_wait(&fired);
  CHECK(one.total >= 20);
}

CASE(timer_in_the_past_fires_at_once) {
  static clockwork one;
  static latch fired = LATCH(1);
  one.fired = &fired;
  begin(&one, 0, NULL);
  dispatch_source_set_timer(
    one.source, dispatch_time(DISPATCH_TIME_NOW, -1000000), DISPATCH_TIME_FOREVER, 0);
  dispatch_activate(one.source);
  latch_wait(&fired);
}

CASE(timer_at_a_walltime) {
  static clockwork one;
  static latch fired = LATCH(1);
  one.fired = &fired;
  begin(&one, 0, NULL);
  int64_t start = monotonic_now();
  dispatch_source_set_timer(one.source, dispatch_walltime(NULL, 20 * (int64_t)NSEC_PER_MSEC),
    DISPATCH_TIME_FOREVER, 0);
  dispatch_activate(one.source);
  latch_wait(&fired);
  CHECK(one.first >= start + 19 * (int64_t)NSEC_PER_MSEC);
}

CASE(timer_can_be_set_again) {
  static clockwork one;
  static latch fired = LATCH(1);
  one.fired = &fired;
  begin(&one, 0, NULL);
  dispatch_source_set_timer(one.source, DISPATCH_TIME_FOREVER, DISPATCH_TIME_FOREVER, 0);
  dispatch_activate(one.source);
  dispatch_queue_t other = serial_queue();
  for (int n = 0; n < 100; n++) drain(other);
  CHECK_EQUAL(one.events, 0);
  dispatch_source_set_timer(one.source, soon(), DISPATCH_TIME_FOREVER, NSEC_PER_MSEC);
  latch_wait(&fired);
}

CASE(cancelled_timer_fires_no_more) {
  static clockwork one;
  static latch fired = LATCH(1), cancelled = LATCH(1);
  one.fired = &fired, one.cancelled = &cancelled;
  begin(&one, 0, serial_queue());
  dispatch_source_set_timer(one.source, DISPATCH_TIME_NOW, NSEC_PER_MSEC, 0);
  dispatch_activate(one.source);
  latch_wait(&fired);
  dispatch_source_cancel(one.source);
  latch_wait(&cancelled);
  int events = one.events;
  static latch later = LATCH(1);
  dispatch_after_f(soon(), global_queue(), &later, open_latch);
  latch_wait(&later);
  CHECK_EQUAL(one.events, events);
  dispatch_release(one.source);
}

CASE(many_timers_all_fire) {
  enum { COUNT = 500 };
  static clockwork all[COUNT];
  static latch fired = LATCH(COUNT);
  dispatch_queue_t queue = concurrent_queue();
  for (int n = 0; n < COUNT; n++) {
    all[n].fired = &fired;
    begin(&all[n], 0, queue);
    dispatch_source_set_timer(all[n].source,
      dispatch_time(DISPATCH_TIME_NOW, (n * 7919 % 40) * (int64_t)NSEC_PER_MSEC),
      DISPATCH_TIME_FOREVER, 0);
    dispatch_activate(all[n].source);
  }
  latch_wait(&fired);
  for (int n = 0; n < COUNT; n++) CHECK_EQUAL(all[n].events, 1);
}

#ifdef __BLOCKS__
// As a delay that starts anew with each key: the last timer fires, and no earlier one.
CASE(of_timers_that_are_replaced_under_sync_only_the_last_fires) {
  enum { COUNT = 2000 };
  static latch fired = LATCH(1);
  static _Atomic int calls, last;
  dispatch_queue_t queue = serial_queue();
  __block dispatch_source_t timer = NULL;
  for (int n = 1; n <= COUNT; n++) {
    dispatch_sync(queue, ^{
      if (timer) {
        dispatch_source_cancel(timer);
        dispatch_release(timer);
      }
      timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
      dispatch_source_set_event_handler(timer, ^{
        atomic_fetch_add(&calls, 1);
        last = n;
        latch_down(&fired);
      });
      dispatch_source_set_timer(timer,
        n < COUNT ? dispatch_time(DISPATCH_TIME_NOW, 60 * NSEC_PER_SEC) : DISPATCH_TIME_NOW,
        DISPATCH_TIME_FOREVER, 0);
      dispatch_activate(timer);
    });
  }
  latch_wait(&fired);
  drain(queue);
  CHECK_EQUAL(calls, 1);
  CHECK_EQUAL(last, COUNT);
  dispatch_source_cancel(timer);
  dispatch_release(timer);
}

// Each event arms the timer for now again; items of its queue come between.
CASE(a_timer_that_is_armed_for_now_fires_each_time) {
  enum { COUNT = 1000 };
  static latch fired = LATCH(1), seen = LATCH(1);
  static _Atomic int calls;
  dispatch_queue_t queue = serial_queue();
  dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
  dispatch_source_set_event_handler(timer, ^{
    CHECK_EQUAL(dispatch_source_get_data(timer), 1);
    if (atomic_fetch_add(&calls, 1) + 1 == COUNT) {
      latch_down(&fired);
    } else {
      dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, DISPATCH_TIME_FOREVER, 0);
    }
  });
  dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, DISPATCH_TIME_FOREVER, 0);
  dispatch_activate(timer);
  dispatch_async_f(queue, &seen, open_latch);
  latch_wait(&seen);
  latch_wait(&fired);
  drain(queue);
  CHECK_EQUAL(calls, COUNT);
  // While it is suspended, the time of the last call counts, and once.
  dispatch_suspend(timer);
  for (int n = 0; n < 3; n++) {
    dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, DISPATCH_TIME_FOREVER, 0);
  }
  drain(queue);
  CHECK_EQUAL(calls, COUNT);
  static latch again = LATCH(1);
  dispatch_source_set_event_handler_f(timer, open_latch);
  dispatch_set_context(timer, &again);
  dispatch_resume(timer);
  latch_wait(&again);
  dispatch_source_cancel(timer);
  dispatch_release(timer);
}
#endif

// The first timer of a process.
static void tick(void *context) { latch_down(context); }
static void starts_now_and_repeats(dispatch_time_t start) {
  static latch ticks[2] = { LATCH(3), LATCH(3) };
  for (int n = 0; n < 2; n++) {
    dispatch_source_t timer =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, serial_queue());
    dispatch_set_context(timer, &ticks[n]);
    dispatch_source_set_event_handler_f(timer, tick);
    dispatch_source_set_timer(timer, start, 5 * NSEC_PER_MSEC, 0);
    dispatch_activate(timer);
    latch_wait(&ticks[n]);
    dispatch_source_cancel(timer);
  }
}
CASE(a_repeating_timer_starts_now) { starts_now_and_repeats(DISPATCH_TIME_NOW); }
CASE(a_repeating_timer_starts_now_on_the_wall_clock) {
  starts_now_and_repeats(dispatch_walltime(NULL, 0));
}

STOPS(setting_the_time_of_another_source_stops, "") {
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_source_set_timer(source, DISPATCH_TIME_NOW, NSEC_PER_SEC, 0);
}
