// The libuv versions of the timers in Timers.swift.
#include "CLibuv.h"
#include "Internal.h"

#include <stdlib.h>

static void on_far_timer(uv_timer_t *timer) {
  (void)timer;
  require(0, "a timer that was due in a minute fired");
}

static void on_closed(uv_handle_t *handle) { free(handle); }

void libuv_arm_and_cancel(
    int count, const uint64_t *timeouts, const int64_t *order, uint64_t *arm, uint64_t *cancel) {
  uv_loop_t loop;
  require(uv_loop_init(&loop) == 0, "uv_loop_init");
  uv_timer_t **timers = calloc(count, sizeof *timers);
  uint64_t start = uv_hrtime();
  for (int i = 0; i < count; i++) {
    timers[i] = malloc(sizeof **timers);
    uv_timer_init(&loop, timers[i]);
    uv_timer_start(timers[i], on_far_timer, timeouts[i], 0);
  }
  uint64_t armed = uv_hrtime();
  for (int i = 0; i < count; i++) {
    uv_timer_t *timer = timers[order[i]];
    uv_timer_stop(timer);
    uv_close((uv_handle_t *)timer, on_closed);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  *cancel = uv_hrtime() - armed;
  *arm = armed - start;
  run_out(&loop);
  free(timers);
}

uint64_t libuv_rearm(int64_t count, const uint64_t *timeouts, int timeout_count) {
  uv_loop_t loop;
  uv_timer_t timer;
  require(uv_loop_init(&loop) == 0, "uv_loop_init");
  uv_timer_init(&loop, &timer);
  uv_timer_start(&timer, on_far_timer, timeouts[0], 0);
  uint64_t start = uv_hrtime();
  int next = 0;
  for (int64_t i = 0; i < count; i++) {
    uv_timer_start(&timer, on_far_timer, timeouts[next], 0);
    if (++next == timeout_count) next = 0;
  }
  uint64_t time = uv_hrtime() - start;
  uv_close((uv_handle_t *)&timer, NULL);
  run_out(&loop);
  return time;
}

struct lateness {
  uv_timer_t timer;
  uint64_t due;
  int count;
  int left;
  double *delays;
};

static void on_millisecond(uv_timer_t *timer) {
  struct lateness *lateness = timer->data;
  uint64_t now = uv_hrtime();
  // libuv counts whole milliseconds, so a timer may fire a fraction of a millisecond early.
  double delay = now > lateness->due ? (double)(now - lateness->due) : 0;
  lateness->delays[lateness->count - lateness->left] = delay;
  lateness->due = now + 1000000;
  if (--lateness->left == 0) uv_close((uv_handle_t *)timer, NULL);
}

uint64_t libuv_lateness(int count, double *delays) {
  uv_loop_t loop;
  require(uv_loop_init(&loop) == 0, "uv_loop_init");
  struct lateness lateness = {.count = count, .left = count, .delays = delays};
  uv_timer_init(&loop, &lateness.timer);
  lateness.timer.data = &lateness;
  uint64_t start = uv_hrtime();
  lateness.due = start + 5000000;
  uv_timer_start(&lateness.timer, on_millisecond, 5, 1);
  uv_run(&loop, UV_RUN_DEFAULT);
  uint64_t time = uv_hrtime() - start;
  run_out(&loop);
  return time;
}
