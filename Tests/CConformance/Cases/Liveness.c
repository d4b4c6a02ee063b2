// Runnable work starts, whatever else runs. Each hog ends when the probe has started, so a case
// that hangs has found a probe that never starts.
#include "../Check.h"

#include <sched.h>

static atomic_int begun, is_over;

static void compute(void *context) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {}
}

static void poll_briefly(void *context) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(&is_over)) usleep(300);
}

static void yield(void *context) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(&is_over)) sched_yield();
}

static latch ran = LATCH(1);

static void probe(void *context) {
  (void)context;
  atomic_store(&is_over, 1);
  latch_down(&ran);
}

static void fill(dispatch_queue_t (*make)(void), int count, dispatch_function_t hog) {
  for (int n = 0; n < count; n++) dispatch_async_f(make(), NULL, hog);
}

static dispatch_queue_t overcommit_queue(void) {
  return dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 2);
}

static void expect_probe(dispatch_queue_t queue) {
  dispatch_async_f(queue, NULL, probe);
  latch_wait(&ran);
}

CASE(a_serial_queue_runs_beside_serial_queues_that_compute) {
  fill(serial_queue, 16, compute);
  expect_probe(serial_queue());
}

CASE(a_serial_queue_runs_beside_serial_queues_that_poll) {
  fill(serial_queue, 16, poll_briefly);
  expect_probe(serial_queue());
}

CASE(a_serial_queue_runs_beside_serial_queues_that_yield) {
  fill(serial_queue, 16, yield);
  expect_probe(serial_queue());
}

CASE(a_serial_queue_runs_beside_a_global_queue_that_computes) {
  fill(global_queue, 16, compute);
  expect_probe(serial_queue());
}

CASE(a_global_queue_runs_beside_serial_queues_that_compute) {
  fill(serial_queue, 16, compute);
  expect_probe(global_queue());
}

CASE(a_global_queue_that_overcommits_runs_beside_what_computes) {
  fill(global_queue, 16, compute);
  expect_probe(overcommit_queue());
}

BEYOND(a_global_queue_runs_beside_itself_computing, "the peer's pool keeps to its width") {
  fill(global_queue, 4, compute);
  expect_probe(global_queue());
}

BEYOND(a_global_queue_runs_beside_itself_polling, "the peer's pool keeps to its width") {
  fill(global_queue, 16, poll_briefly);
  expect_probe(global_queue());
}

static void meet(void *context) {
  int *count = context;
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&begun) < *count) usleep(300);
  latch_down(&ran);
}

static void expect_meeting(dispatch_queue_t (*make)(void), int count) {
  ran.left = count;
  for (int n = 0; n < count; n++) dispatch_async_f(make(), &count, meet);
  latch_wait(&ran);
}

CASE(serial_queues_that_poll_for_each_other_meet) { expect_meeting(serial_queue, 128); }

CASE(items_of_an_overcommitting_queue_that_poll_for_each_other_meet) {
  expect_meeting(overcommit_queue, 128);
}

BEYOND(items_of_a_global_queue_that_poll_for_each_other_meet,
       "the peer's pool keeps to its width") {
  expect_meeting(global_queue, 48);
}

// MARK: The overcommitting global queues

CASE(a_global_queue_that_overcommits_is_another_queue) {
  dispatch_queue_t one = overcommit_queue();
  CHECK(one && one != global_queue());
  CHECK(one == overcommit_queue());
  CHECK(dispatch_get_global_queue(0x09, 2) != one);
  CHECK(strcmp(dispatch_queue_get_label(one), dispatch_queue_get_label(global_queue())));
}

static const char *label_inside;

static void read_label(void *context) {
  (void)context;
  label_inside = dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL);
  latch_down(&ran);
}

CASE(items_know_the_overcommitting_queue_that_they_are_on) {
  dispatch_async_f(overcommit_queue(), NULL, read_label);
  latch_wait(&ran);
  CHECK_TEXT(label_inside, dispatch_queue_get_label(overcommit_queue()));
}
