// Grand Central's own functions: what the queues and threads of the process do. The toolchain's
// headers and library have none of them, so the functions are weak and the cases exist with our
// headers only.
#include "../Check.h"

#if __has_include(<dispatch/grandcentral.h>)
#include <dispatch/grandcentral.h>

#pragma weak grandcentral_snapshot_create
#pragma weak grandcentral_snapshot_free
#pragma weak grandcentral_snapshot_get_text
#pragma weak grandcentral_snapshot_get_finding_count
#pragma weak grandcentral_snapshot_get_finding_kind
#pragma weak grandcentral_snapshot_get_finding_text
#pragma weak grandcentral_snapshot_get_thread_count
#pragma weak grandcentral_snapshot_get_thread_id
#pragma weak grandcentral_snapshot_get_thread_name
#pragma weak grandcentral_snapshot_get_thread_activity
#pragma weak grandcentral_snapshot_get_thread_since
#pragma weak grandcentral_snapshot_get_thread_queue
#pragma weak grandcentral_snapshot_get_thread_awaited
#pragma weak grandcentral_snapshot_get_thread_awaited_queue
#pragma weak grandcentral_snapshot_get_thread_holder
#pragma weak grandcentral_snapshot_get_queue_count
#pragma weak grandcentral_snapshot_get_queue_id
#pragma weak grandcentral_snapshot_get_queue_label
#pragma weak grandcentral_snapshot_get_queue_kind
#pragma weak grandcentral_snapshot_get_queue_qos_class
#pragma weak grandcentral_snapshot_get_queue_target
#pragma weak grandcentral_snapshot_get_queue_suspended_since
#pragma weak grandcentral_when_stuck_f
#pragma weak grandcentral_stuck_handler_cancel

// The number of the queue with a label, as an index of the snapshot; the count if there is none.
static size_t find_queue(grandcentral_snapshot_t snapshot, const char *label) {
  size_t count = grandcentral_snapshot_get_queue_count(snapshot), index = 0;
  while (index < count
         && strcmp(grandcentral_snapshot_get_queue_label(snapshot, index), label) != 0)
    index++;
  return index;
}

static bool wait_until_stuck(grandcentral_snapshot_t *snapshot, int kind) {
  int64_t deadline = monotonic_now() + 60 * (int64_t)NSEC_PER_SEC;
  while (monotonic_now() < deadline) {
    *snapshot = grandcentral_snapshot_create(0);
    if (grandcentral_snapshot_get_finding_count(*snapshot) > 0
        && grandcentral_snapshot_get_finding_kind(*snapshot, 0) == kind)
      return true;
    grandcentral_snapshot_free(*snapshot);
    usleep(10000);
  }
  return false;
}

BEYOND(snapshot_before_any_queue_is_empty, "the peer has no such functions") {
  grandcentral_snapshot_t snapshot = grandcentral_snapshot_create(0);
  CHECK_EQUAL(grandcentral_snapshot_get_finding_count(snapshot), 0);
  CHECK_EQUAL(grandcentral_snapshot_get_thread_count(snapshot), 0);
  CHECK_EQUAL(grandcentral_snapshot_get_queue_count(snapshot), 0);
  CHECK(strlen(grandcentral_snapshot_get_text(snapshot)) > 0);
  grandcentral_snapshot_free(snapshot);
  grandcentral_snapshot_free(NULL);
}

static latch entered = LATCH(1);
static void note_snapshot(void *context) {
  *(grandcentral_snapshot_t *)context = grandcentral_snapshot_create(60 * NSEC_PER_SEC);
}

BEYOND(snapshot_shows_the_queue_of_the_item_that_takes_it, "the peer has no such functions") {
  grandcentral_snapshot_t snapshot = NULL;
  dispatch_queue_attr_t utility =
    dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_SERIAL, QOS_CLASS_UTILITY, 0);
  dispatch_queue_t target = dispatch_queue_create("inside.target", NULL);
  dispatch_queue_t queue = dispatch_queue_create_with_target("inside.queue", utility, target);
  dispatch_async_f(queue, &snapshot, note_snapshot);
  drain(queue);
  CHECK_EQUAL(grandcentral_snapshot_get_finding_count(snapshot), 0);
  CHECK(strncmp(grandcentral_snapshot_get_text(snapshot), "Nothing is stuck.\n", 18) == 0);
  size_t own = find_queue(snapshot, "inside.queue"), above = find_queue(snapshot, "inside.target");
  CHECK(own < grandcentral_snapshot_get_queue_count(snapshot));
  CHECK(above < grandcentral_snapshot_get_queue_count(snapshot));
  CHECK_EQUAL(grandcentral_snapshot_get_queue_kind(snapshot, own), GRANDCENTRAL_SERIAL);
  CHECK_EQUAL(grandcentral_snapshot_get_queue_qos_class(snapshot, own), QOS_CLASS_UTILITY);
  CHECK_EQUAL(grandcentral_snapshot_get_queue_qos_class(snapshot, above), QOS_CLASS_UNSPECIFIED);
  CHECK_EQUAL(
    grandcentral_snapshot_get_queue_target(snapshot, own),
    grandcentral_snapshot_get_queue_id(snapshot, above));
  CHECK_EQUAL(grandcentral_snapshot_get_queue_suspended_since(snapshot, own), 0);
  size_t on_queue = 0;
  for (size_t i = 0; i < grandcentral_snapshot_get_thread_count(snapshot); i++) {
    CHECK(grandcentral_snapshot_get_thread_id(snapshot, i) > 0);
    CHECK(strlen(grandcentral_snapshot_get_thread_name(snapshot, i)) < 16);
    if (grandcentral_snapshot_get_thread_queue(snapshot, i)
        != grandcentral_snapshot_get_queue_id(snapshot, own))
      continue;
    on_queue++;
    CHECK_EQUAL(grandcentral_snapshot_get_thread_activity(snapshot, i), GRANDCENTRAL_RUNNING);
    CHECK_EQUAL(grandcentral_snapshot_get_thread_awaited(snapshot, i), GRANDCENTRAL_NOTHING);
    CHECK(grandcentral_snapshot_get_thread_since(snapshot, i) <= (uint64_t)monotonic_now());
  }
  CHECK_EQUAL(on_queue, 1);
  grandcentral_snapshot_free(snapshot);
}

static void sleep_in_kernel(void *context) {
  (void)context;
  latch_down(&entered);
  for (;;) pause();
}
static void nothing(void *context) { (void)context; }
static void enter_queue(void *queue) { dispatch_sync_f(queue, NULL, nothing); }

// Makes a queue whose item never ends, and a thread that waits for the queue.
static void make_stuck(const char *label) {
  dispatch_queue_t queue = dispatch_queue_create(label, NULL);
  dispatch_async_f(queue, NULL, sleep_in_kernel);
  latch_wait(&entered);
  dispatch_async_f(global_queue(), queue, enter_queue);
}

BEYOND(snapshot_names_a_queue_that_is_stuck, "the peer has no such functions") {
  make_stuck("inside.stuck");
  grandcentral_snapshot_t snapshot;
  CHECK(wait_until_stuck(&snapshot, GRANDCENTRAL_STUCK_QUEUE));
  const char *line = "Queue 'inside.stuck' is stuck behind one item: 1 thread waits for it.\n";
  CHECK(strncmp(grandcentral_snapshot_get_finding_text(snapshot, 0), line, strlen(line)) == 0);
  CHECK(strncmp(grandcentral_snapshot_get_text(snapshot), line, strlen(line)) == 0);
  uint32_t stuck =
    grandcentral_snapshot_get_queue_id(snapshot, find_queue(snapshot, "inside.stuck"));
  size_t waiting = 0;
  for (size_t i = 0; i < grandcentral_snapshot_get_thread_count(snapshot); i++) {
    if (grandcentral_snapshot_get_thread_activity(snapshot, i) != GRANDCENTRAL_WAITING) continue;
    waiting++;
    CHECK_EQUAL(grandcentral_snapshot_get_thread_awaited(snapshot, i), GRANDCENTRAL_QUEUE);
    CHECK_EQUAL(grandcentral_snapshot_get_thread_awaited_queue(snapshot, i), stuck);
    CHECK(grandcentral_snapshot_get_thread_holder(snapshot, i) > 0);
  }
  CHECK_EQUAL(waiting, 1);
  grandcentral_snapshot_free(snapshot);
}

BEYOND(snapshot_names_a_forgotten_resume, "the peer has no such functions") {
  // Kept suspended: a queue must not end so.
  dispatch_queue_t queue = dispatch_queue_create("inside.asleep", NULL);
  dispatch_suspend(queue);
  dispatch_async_f(queue, NULL, nothing);
  grandcentral_snapshot_t snapshot;
  CHECK(wait_until_stuck(&snapshot, GRANDCENTRAL_FORGOTTEN_RESUME));
  CHECK(grandcentral_snapshot_get_queue_suspended_since(
          snapshot, find_queue(snapshot, "inside.asleep"))
        > 0);
  grandcentral_snapshot_free(snapshot);
  // It is over when the queue continues.
  dispatch_resume(queue);
  drain(queue);
  snapshot = grandcentral_snapshot_create(0);
  CHECK_EQUAL(grandcentral_snapshot_get_finding_count(snapshot), 0);
  grandcentral_snapshot_free(snapshot);
  dispatch_release(queue);
}

static int context_of_handler;
static latch heard = LATCH(1);
static void hear(void *context, grandcentral_snapshot_t snapshot) {
  CHECK(context == &context_of_handler);
  CHECK_EQUAL(grandcentral_snapshot_get_finding_kind(snapshot, 0), GRANDCENTRAL_STUCK_QUEUE);
  latch_down(&heard);
}
static void never(void *context, grandcentral_snapshot_t snapshot) {
  (void)context;
  (void)snapshot;
  CHECK(!"a function that was removed, or waits for ever, was called");
}

BEYOND(when_stuck_f_calls_the_function_once, "the peer has no such functions") {
  grandcentral_stuck_handler_t removed =
    grandcentral_when_stuck_f(50 * NSEC_PER_MSEC, NULL, never);
  grandcentral_stuck_handler_cancel(removed);
  grandcentral_stuck_handler_t idle = grandcentral_when_stuck_f(DISPATCH_TIME_FOREVER, NULL, never);
  grandcentral_stuck_handler_t handler =
    grandcentral_when_stuck_f(50 * NSEC_PER_MSEC, &context_of_handler, hear);
  make_stuck("inside.stuck");
  latch_wait(&heard);
  grandcentral_stuck_handler_cancel(handler);
  grandcentral_stuck_handler_cancel(idle);
}

STOPS_BEYOND(snapshot_with_an_index_beyond_the_count,
             "grandcentral_snapshot_get_thread|index 0 is not below the count, 0") {
  grandcentral_snapshot_get_thread_id(grandcentral_snapshot_create(0), 0);
}
STOPS_BEYOND(snapshot_that_is_null, "grandcentral_snapshot_create|NULL") {
  grandcentral_snapshot_t none = NULL;
  grandcentral_snapshot_get_text(*(volatile grandcentral_snapshot_t *)&none);
}
STOPS_BEYOND(when_stuck_f_without_an_interval, "grandcentral_when_stuck_f|positive") {
  grandcentral_stuck_handler_cancel(grandcentral_when_stuck_f(0, NULL, never));
}
#endif
