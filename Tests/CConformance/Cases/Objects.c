// References, contexts and finalizers.
#include "../Check.h"

#include <stdarg.h>

static char tag;

CASE(context_is_what_was_set) {
  dispatch_queue_t queue = serial_queue();
  CHECK(!dispatch_get_context(queue));
  dispatch_set_context(queue, &tag);
  CHECK(dispatch_get_context(queue) == &tag);
  dispatch_set_context(queue, NULL);
  CHECK(!dispatch_get_context(queue));
  dispatch_release(queue);
}

CASE(every_kind_of_object_keeps_a_context) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_set_context(group, &tag);
  dispatch_set_context(semaphore, &tag);
  dispatch_set_context(source, &tag);
  CHECK(dispatch_get_context(group) == &tag);
  CHECK(dispatch_get_context(semaphore) == &tag);
  CHECK(dispatch_get_context(source) == &tag);
  dispatch_release(group);
  dispatch_release(semaphore);
  dispatch_activate(source);
  dispatch_source_cancel(source);
  dispatch_release(source);
}

CASE(finalizer_runs_once_with_the_context) {
  static latch gone = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  dispatch_set_context(queue, &gone);
  dispatch_set_finalizer_f(queue, open_latch);
  dispatch_retain(queue);
  dispatch_release(queue);
  drain(queue);
  CHECK(!latch_is_open(&gone));
  dispatch_release(queue);
  latch_wait(&gone);
  CHECK_EQUAL(gone.left, 0);
}

CASE(finalizer_without_a_context_does_not_run) {
  static counter ran;
  static latch gone = LATCH(1);
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t one = dispatch_queue_create_with_target(NULL, NULL, bottom);
  dispatch_queue_t two = dispatch_queue_create_with_target(NULL, NULL, bottom);
  dispatch_set_finalizer_f(one, count_up);
  dispatch_release(one);
  dispatch_set_context(two, &gone);
  dispatch_set_finalizer_f(two, open_latch);
  dispatch_release(two);
  latch_wait(&gone);
  drain(bottom);
  CHECK_EQUAL(ran.value, 0);
  dispatch_release(bottom);
}

static dispatch_queue_t expected_target;
static void finalize_on_target(void *context) {
  dispatch_assert_queue(expected_target);
  latch_down(context);
}

CASE(finalizer_runs_on_the_target_queue) {
  static latch gone = LATCH(1);
  expected_target = serial_queue();
  dispatch_queue_t queue = dispatch_queue_create_with_target(NULL, NULL, expected_target);
  dispatch_set_context(queue, &gone);
  dispatch_set_finalizer_f(queue, finalize_on_target);
  dispatch_release(queue);
  latch_wait(&gone);
}

CASE(finalizers_of_groups_and_semaphores_run) {
  static latch gone = LATCH(2);
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(3);
  dispatch_set_context(group, &gone);
  dispatch_set_finalizer_f(group, open_latch);
  dispatch_set_context(semaphore, &gone);
  dispatch_set_finalizer_f(semaphore, open_latch);
  dispatch_release(group);
  dispatch_release(semaphore);
  latch_wait(&gone);
}

CASE(finalizer_waits_for_the_work) {
  static journal order = JOURNAL;
  static latch done = LATCH(1);
  static step work = {&order, 1, NULL}, finalizer = {&order, 2, &done};
  dispatch_queue_t queue = serial_queue();
  dispatch_set_context(queue, &finalizer);
  dispatch_set_finalizer_f(queue, take_step);
  for (int n = 0; n < 3; n++) dispatch_async_f(queue, &work, take_step);
  dispatch_release(queue);
  latch_wait(&done);
  journal_expect(&order, 1, 1, 1, 2);
}

CASE(global_objects_keep_no_context) {
  dispatch_set_finalizer_f(global_queue(), count_up);
  dispatch_set_context(global_queue(), &tag);
  CHECK(!dispatch_get_context(global_queue()));
}

static void debug_list(dispatch_object_t object, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  dispatch_debugv(object, format, arguments);
  va_end(arguments);
}

CASE(debug_takes_any_object) {
  dispatch_queue_t queue = serial_queue();
  dispatch_group_t group = dispatch_group_create();
  dispatch_debug(queue, "a queue, %d", 1);
  dispatch_debug(group, "a group");
  debug_list((dispatch_object_t){._dq = queue}, "with a list, %s", "once");
  dispatch_release(group);
  dispatch_release(queue);
}

STOPS(releasing_too_often_stops, "") {
  dispatch_queue_t queue = serial_queue();
  dispatch_group_t group = dispatch_group_create();
  dispatch_suspend(queue);
  dispatch_async_f(queue, group, open_latch);
  // The pending item keeps the object's memory valid, so that the mistake is certain to be noticed.
  dispatch_release(queue);
  dispatch_release(queue);
}

// The queue that targets it keeps it alive, so that the second release finds it.
STOPS(releasing_what_is_not_held_stops, "conformance.serial|holds no reference") {
  dispatch_queue_t queue = serial_queue();
  dispatch_queue_t other = dispatch_queue_create_with_target("other", NULL, queue);
  dispatch_release(queue);
  dispatch_release(queue);
  dispatch_release(other);
}

static void release_and_retain(dispatch_object_t object) {
  for (int n = 0; n < 3; n++) dispatch_release(object);
  for (int n = 0; n < 5; n++) dispatch_retain(object);
  for (int n = 0; n < 3; n++) dispatch_release(object);
}

CASE(what_never_ends_counts_no_references) {
  release_and_retain(dispatch_get_main_queue());
  release_and_retain(dispatch_get_global_queue(0, 0));
  release_and_retain(DISPATCH_QUEUE_CONCURRENT);
  release_and_retain(dispatch_data_empty);
  CHECK_EQUAL(dispatch_data_get_size(dispatch_data_empty), 0);
  dispatch_queue_t queue = dispatch_queue_create("still concurrent", DISPATCH_QUEUE_CONCURRENT);
  drain(dispatch_get_global_queue(0, 0));
  drain(queue);
  dispatch_release(queue);
}

static void release_the_current_queue(void *context) {
  for (int n = 0; n < 3; n++) dispatch_release(dispatch_get_current_queue());
  open_latch(context);
}

CASE(current_queue_of_what_has_none_never_ends) {
  static latch ran = LATCH(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_set_context(source, &ran);
  dispatch_source_set_event_handler_f(source, release_the_current_queue);
  dispatch_activate(source);
  dispatch_source_merge_data(source, 1);
  latch_wait(&ran);
  dispatch_source_cancel(source);
  dispatch_release(source);
  drain(global_queue());
}

typedef struct borrowing {
  dispatch_queue_t queue;
  latch ran, gone;
} borrowing;

static void retain_where_it_runs(void *context) {
  borrowing *work = context;
  dispatch_queue_t current = dispatch_get_current_queue();
  CHECK(current == work->queue);
  dispatch_retain(current);
  open_latch(&work->ran);
}

// No other reference exists then: the item's becomes the first one again.
BEYOND(item_retains_its_queue_after_the_last_release,
       "the peer stops: what was released for the last time is not retained again") {
  static borrowing work = {.ran = LATCH(1), .gone = LATCH(1)};
  work.queue = serial_queue();
  dispatch_set_context(work.queue, &work.gone);
  dispatch_set_finalizer_f(work.queue, open_latch);
  dispatch_suspend(work.queue);
  dispatch_async_f(work.queue, &work, retain_where_it_runs);
  dispatch_resume(work.queue);
  dispatch_release(work.queue);
  latch_wait(&work.ran);
  CHECK(!latch_is_open(&work.gone));
  drain(work.queue);
  dispatch_release(work.queue);
  latch_wait(&work.gone);
}
