// Global queues and the program's own queues: labels, classes, the current queue.
#include "../Check.h"

CASE(global_queues_exist_for_priorities) {
  const intptr_t priorities[] = {DISPATCH_QUEUE_PRIORITY_HIGH, DISPATCH_QUEUE_PRIORITY_DEFAULT,
    DISPATCH_QUEUE_PRIORITY_LOW, DISPATCH_QUEUE_PRIORITY_BACKGROUND};
  dispatch_queue_t seen[4];
  for (int n = 0; n < 4; n++) {
    seen[n] = dispatch_get_global_queue(priorities[n], 0);
    CHECK(seen[n]);
    CHECK(seen[n] == dispatch_get_global_queue(priorities[n], 0));
    for (int m = 0; m < n; m++) CHECK(seen[m] != seen[n]);
  }
}

CASE(global_queues_exist_for_classes) {
  const intptr_t classes[] = {0x19, 0x15, 0x11, 0x09};
  for (int n = 0; n < 4; n++) {
    dispatch_queue_t queue = dispatch_get_global_queue(classes[n], 0);
    CHECK(queue);
    // The default queue may report that no class was requested.
    dispatch_qos_class_t seen = dispatch_queue_get_qos_class(queue, NULL);
    if (classes[n] != 0x15 || seen != 0) CHECK_EQUAL(seen, classes[n]);
  }
  CHECK(dispatch_get_global_queue(0x15, 0) == global_queue());
  CHECK(dispatch_get_global_queue(0x19, 0)
    == dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_HIGH, 0));
  CHECK(dispatch_get_global_queue(0x11, 0)
    == dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_LOW, 0));
  CHECK(dispatch_get_global_queue(0x09, 0)
    == dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_BACKGROUND, 0));
}

BEYOND(user_interactive_is_a_class_of_its_own, "the peer makes it user-initiated on Linux") {
  dispatch_queue_t global = dispatch_get_global_queue(0x21, 0);
  CHECK(global && global != dispatch_get_global_queue(0x19, 0));
  CHECK_EQUAL(dispatch_queue_get_qos_class(global, NULL), 0x21);
  dispatch_queue_t queue =
    dispatch_queue_create(NULL, dispatch_queue_attr_make_with_qos_class(NULL, 0x21, -1));
  CHECK_EQUAL(dispatch_queue_get_qos_class(queue, NULL), 0x21);
  dispatch_release(queue);
}

CASE(global_queue_for_user_interactive_work) {
  static counter ran;
  CHECK(dispatch_get_global_queue(0x21, 0));
  dispatch_sync_f(dispatch_get_global_queue(0x21, 0), &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}

CASE(global_queue_of_unknown_arguments_is_null) {
  CHECK(!dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0x100));
  CHECK(!dispatch_get_global_queue(12345, 0));
}

CASE(global_queues_are_named) {
  CHECK_TEXT(dispatch_queue_get_label(dispatch_get_main_queue()), "com.apple.main-thread");
  CHECK(strlen(dispatch_queue_get_label(global_queue())) > 0);
  CHECK(strcmp(dispatch_queue_get_label(global_queue()),
    dispatch_queue_get_label(dispatch_get_global_queue(0x09, 0))));
}

static const struct {
  intptr_t identifier;
  const char *label;
} global_labels[] = {
  {DISPATCH_QUEUE_PRIORITY_HIGH, "com.apple.root.user-initiated-qos"},
  {DISPATCH_QUEUE_PRIORITY_DEFAULT, "com.apple.root.default-qos"},
  {DISPATCH_QUEUE_PRIORITY_LOW, "com.apple.root.utility-qos"},
  {DISPATCH_QUEUE_PRIORITY_BACKGROUND, "com.apple.root.background-qos"},
  {0x19, "com.apple.root.user-initiated-qos"},
  {0x15, "com.apple.root.default-qos"},
  {0x11, "com.apple.root.utility-qos"},
  {0x09, "com.apple.root.background-qos"},
};
static void check_label(void *expected) {
  CHECK_TEXT(dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL), expected);
}

CASE(global_queues_have_the_labels_that_people_know) {
  for (size_t n = 0; n < sizeof global_labels / sizeof *global_labels; n++) {
    dispatch_queue_t queue = dispatch_get_global_queue(global_labels[n].identifier, 0);
    CHECK_TEXT(dispatch_queue_get_label(queue), global_labels[n].label);
    dispatch_sync_f(queue, (void *)global_labels[n].label, check_label);
  }
}

BEYOND(the_user_interactive_queue_has_its_own_label, "the peer makes it user-initiated on Linux") {
  CHECK_TEXT(dispatch_queue_get_label(dispatch_get_global_queue(0x21, 0)),
    "com.apple.root.user-interactive-qos");
}

static latch handled = LATCH(1);
static void handle(void *expected) {
  check_label(expected);
  latch_down(&handled);
}
CASE(handlers_of_a_source_without_a_queue_run_on_the_default_target) {
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_set_context(source, "com.apple.root.default-qos.overcommit");
  dispatch_source_set_event_handler_f(source, handle);
  dispatch_activate(source);
  dispatch_source_merge_data(source, 1);
  latch_wait(&handled);
  dispatch_source_cancel(source);
  dispatch_release(source);
}

CASE(global_queues_need_no_references) {
  for (int n = 0; n < 1000; n++) {
    dispatch_release(global_queue());
    dispatch_release(dispatch_get_main_queue());
    dispatch_retain(global_queue());
  }
  static counter ran;
  dispatch_sync_f(global_queue(), &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}

CASE(label_is_copied) {
  char label[] = "conformance.label";
  dispatch_queue_t queue = dispatch_queue_create(label, NULL);
  label[0] = '!';
  CHECK_TEXT(dispatch_queue_get_label(queue), "conformance.label");
  dispatch_release(queue);
}

CASE(label_of_a_queue_made_without_is_empty) {
  dispatch_queue_t queue = dispatch_queue_create(NULL, NULL);
  CHECK_TEXT(dispatch_queue_get_label(queue), "");
  dispatch_release(queue);
}

// Short labels may be stored elsewhere than long ones.
CASE(labels_of_every_length_are_kept) {
  char label[64];
  for (size_t length = 0; length < sizeof label; length++) {
    for (size_t i = 0; i < length; i++) label[i] = (char)('!' + (i * 7 + length) % 90);
    label[length] = 0;
    dispatch_queue_t queue = dispatch_queue_create(label, NULL);
    const char *kept = dispatch_queue_get_label(queue);
    CHECK_TEXT(kept, label);
    // The label is a copy, and its address stays valid.
    label[0] = 0;
    if (length > 0) CHECK(kept[0]);
    CHECK(dispatch_queue_get_label(queue) == kept);
    dispatch_release(queue);
  }
}

CASE(labels_may_be_no_text) {
  const char *labels[] = {"\xff\xfe", "short \xc3", "a long one, with a byte that begins nothing: \x80.",
    "exactly thirty-one bytes of it\xff", "and this has one more of them: \xff"};
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    dispatch_queue_t queue = dispatch_queue_create(labels[i], NULL);
    CHECK_TEXT(dispatch_queue_get_label(queue), labels[i]);
    dispatch_release(queue);
  }
}

static void label_into(void *context) {
  *(const char **)context = dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL);
}

CASE(label_of_the_current_queue) {
  dispatch_queue_t queue = serial_queue();
  const char *label = NULL;
  dispatch_sync_f(queue, &label, label_into);
  CHECK_TEXT(label, "conformance.serial");
  CHECK_TEXT(dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL), "com.apple.main-thread");
  dispatch_release(queue);
}

static void current_into(void *context) {
  *(dispatch_queue_t *)context = dispatch_get_current_queue();
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
CASE(current_queue_inside_an_item) {
  dispatch_queue_t queue = serial_queue(), seen = NULL;
  dispatch_sync_f(queue, &seen, current_into);
  CHECK(seen == queue);
  dispatch_release(queue);
}

static void *current_on_a_thread(void *context) {
  current_into(context);
  return NULL;
}

CASE(current_queue_outside_of_items) {
  CHECK(dispatch_get_current_queue() == dispatch_get_main_queue());
  dispatch_queue_t seen = NULL;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, current_on_a_thread, &seen) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  // The queue may be the other default queue, the overcommitting one, which has no public name.
  CHECK(seen && seen != dispatch_get_main_queue());
  dispatch_qos_class_t class = dispatch_queue_get_qos_class(seen, NULL);
  CHECK(class == 0x15 || class == 0);
}

CASE(queue_has_the_class_of_its_attribute) {
  int priority = 99;
  dispatch_queue_t queue = dispatch_queue_create(
    NULL, dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_SERIAL, 0x11, -7));
  CHECK_EQUAL(dispatch_queue_get_qos_class(queue, &priority), 0x11);
  CHECK_EQUAL(priority, -7);
  dispatch_release(queue);
}

CASE(queue_without_a_class_is_unspecified) {
  int priority = 99;
  dispatch_queue_t queue = serial_queue();
  CHECK_EQUAL(dispatch_queue_get_qos_class(queue, &priority), 0);
  CHECK_EQUAL(priority, 0);
  dispatch_release(queue);
}

CASE(queue_lives_until_its_work_is_done) {
  static latch done = LATCH(100);
  dispatch_queue_t queue = serial_queue();
  for (int n = 0; n < 100; n++) dispatch_async_f(queue, &done, open_latch);
  dispatch_release(queue);
  latch_wait(&done);
}

static dispatch_queue_t dropped;
static void drop_it(void *context) {
  dispatch_release(dropped);
  open_latch(context);
}

CASE(item_may_drop_the_last_reference_to_its_queue) {
  static latch done = LATCH(1);
  dropped = serial_queue();
  dispatch_async_f(dropped, &done, drop_it);
  latch_wait(&done);
}

CASE(many_idle_queues_cost_little) {
  enum { COUNT = 100000 };
  dispatch_queue_t *queues = malloc(sizeof *queues * COUNT);
  for (int n = 0; n < COUNT; n++) queues[n] = serial_queue();
  static counter ran;
  for (int n = 0; n < COUNT; n += 1000) dispatch_sync_f(queues[n], &ran, count_up);
  CHECK_EQUAL(ran.value, COUNT / 1000);
  for (int n = 0; n < COUNT; n++) dispatch_release(queues[n]);
  free(queues);
}
