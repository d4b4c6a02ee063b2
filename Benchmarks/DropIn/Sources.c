// Sources and delayed work.
#include "Bench.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct adding {
  dispatch_source_t source;
  size_t sum, wanted;
  dispatch_semaphore_t done;
} adding;

static void add_data(void *context) {
  adding *work = context;
  work->sum += dispatch_source_get_data(work->source);
  if (work->sum == work->wanted) dispatch_semaphore_signal(work->done);
}

static adding adding_source(size_t wanted) {
  adding work = {NULL, 0, wanted, dispatch_semaphore_create(0)};
  work.source = dispatch_source_create(
      DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, dispatch_get_global_queue(0, 0));
  return work;
}

static void start(dispatch_source_t source, void *context, dispatch_function_t handler) {
  dispatch_set_context(source, context);
  dispatch_source_set_event_handler_f(source, handler);
  dispatch_resume(source);
}

// Cancels the source and waits for its cancel handler.
static void finish(dispatch_source_t source) {
  dispatch_semaphore_t over = dispatch_semaphore_create(0);
  dispatch_set_context(source, over);
  dispatch_source_set_cancel_handler_f(source, signal_semaphore);
  dispatch_source_cancel(source);
  dispatch_semaphore_wait(over, DISPATCH_TIME_FOREVER);
  dispatch_release(over);
  dispatch_release(source);
}

static void merged(size_t count) {
  adding work = adding_source(count);
  start(work.source, &work, add_data);
  for (size_t i = 0; i < count; i++) dispatch_source_merge_data(work.source, 1);
  dispatch_semaphore_wait(work.done, DISPATCH_TIME_FOREVER);
  finish(work.source);
  dispatch_release(work.done);
}

static void notified(void *context) {
  adding *work = context;
  work->sum += dispatch_source_get_data(work->source);
  dispatch_semaphore_signal(work->done);
}

static void merged_and_notified(size_t count) {
  adding work = adding_source(count);
  start(work.source, &work, notified);
  for (size_t i = 0; i < count; i++) {
    dispatch_source_merge_data(work.source, 1);
    dispatch_semaphore_wait(work.done, DISPATCH_TIME_FOREVER);
  }
  EXPECT(work.sum == count);
  finish(work.source);
  dispatch_release(work.done);
}

static void nothing(void *context) { (void)context; }

static dispatch_time_t in_hours(size_t number) {
  return dispatch_time(DISPATCH_TIME_NOW, (int64_t)(3600 + number) * (int64_t)NSEC_PER_SEC);
}

static void timers(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("timers", NULL);
  dispatch_source_t *all = calloc(count, sizeof *all);
  for (size_t i = 0; i < count; i++) {
    all[i] = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
    dispatch_source_set_event_handler_f(all[i], nothing);
    dispatch_source_set_timer(all[i], in_hours(i), DISPATCH_TIME_FOREVER, 0);
    dispatch_resume(all[i]);
  }
  for (size_t i = 0; i < count; i++) {
    dispatch_source_cancel(all[i]);
    dispatch_release(all[i]);
  }
  size_t ignored = 0;
  dispatch_sync_f(queue, &ignored, add_one);
  free(all);
  dispatch_release(queue);
}

static void one_timer_again(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("timer", NULL);
  dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
  start(timer, NULL, nothing);
  for (size_t i = 0; i < count; i++) {
    dispatch_source_set_timer(timer, in_hours(i % 1000), DISPATCH_TIME_FOREVER, 0);
  }
  finish(timer);
  dispatch_release(queue);
}

typedef struct pending {
  _Atomic size_t left;
  dispatch_semaphore_t done;
} pending;

static void count_off(void *context) {
  pending *all = context;
  if (atomic_fetch_sub(&all->left, 1) == 1) dispatch_semaphore_signal(all->done);
}

// All are due at once, so the time is that of arming and firing.
static void after(size_t count) {
  pending all;
  atomic_init(&all.left, count);
  all.done = dispatch_semaphore_create(0);
  dispatch_queue_t queue = dispatch_queue_create("after", NULL);
  dispatch_time_t now = dispatch_time(DISPATCH_TIME_NOW, 1);
  for (size_t i = 0; i < count; i++) dispatch_after_f(now, queue, &all, count_off);
  dispatch_semaphore_wait(all.done, DISPATCH_TIME_FOREVER);
  dispatch_release(all.done);
  dispatch_release(queue);
}

typedef struct echo {
  int inward[2], outward[2];
} echo;

static void answer(void *context) {
  echo *ends = context;
  char byte;
  EXPECT(read(ends->inward[0], &byte, 1) == 1);
  EXPECT(write(ends->outward[1], &byte, 1) == 1);
}

static void echoes(size_t count) {
  echo ends;
  EXPECT(pipe(ends.inward) == 0 && pipe(ends.outward) == 0);
  dispatch_queue_t queue = dispatch_queue_create("echo", NULL);
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)ends.inward[0], 0, queue);
  start(source, &ends, answer);
  for (size_t i = 0; i < count; i++) {
    char byte = (char)i, back = 0;
    EXPECT(write(ends.inward[1], &byte, 1) == 1);
    EXPECT(read(ends.outward[0], &back, 1) == 1);
    EXPECT(byte == back);
  }
  finish(source);
  dispatch_release(queue);
  for (int i = 0; i < 2; i++) {
    close(ends.inward[i]);
    close(ends.outward[i]);
  }
}

// Each source is the signal's first and last.
static void signals(size_t count) {
  EXPECT(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
  dispatch_queue_t queue = dispatch_queue_create("signals", NULL);
  for (size_t i = 0; i < count; i++) {
    dispatch_source_t source =
        dispatch_source_create(DISPATCH_SOURCE_TYPE_SIGNAL, SIGUSR1, 0, queue);
    start(source, NULL, nothing);
    finish(source);
  }
  dispatch_release(queue);
}

// The descriptor never becomes readable. Measures a source's whole life, to its cancel handler.
static void descriptors(size_t count) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  pending all;
  atomic_init(&all.left, count);
  all.done = dispatch_semaphore_create(0);
  dispatch_queue_t queue = dispatch_queue_create("descriptors", NULL);
  for (size_t i = 0; i < count; i++) {
    dispatch_source_t source =
        dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)ends[0], 0, queue);
    dispatch_source_set_cancel_handler_f(source, count_off);
    start(source, &all, nothing);
    dispatch_source_cancel(source);
    dispatch_release(source);
  }
  dispatch_semaphore_wait(all.done, DISPATCH_TIME_FOREVER);
  dispatch_release(all.done);
  dispatch_release(queue);
  for (int i = 0; i < 2; i++) close(ends[i]);
}

const workload source_workloads[] = {
  {"source/merge_data", merged, 0},
  {"source/merge_data, notified", merged_and_notified, 0},
  {"source/timers armed and cancelled", timers, 10000},
  {"source/a timer armed anew", one_timer_again, 0},
  {"source/after_f, due", after, 10000},
  {"source/read, echo of a byte", echoes, 0},
  {"source/read, made and cancelled", descriptors, 10000},
  {"source/signal, made and cancelled", signals, 20000},
  {0},
};
