// Queue-specific data.
#include "../Check.h"

static char key, other_key;
static int left, right;

static void get_into(void *context) { *(void **)context = dispatch_get_specific(&key); }
static void *seen_on(dispatch_queue_t queue) {
  void *seen = &seen;
  dispatch_sync_f(queue, &seen, get_into);
  return seen;
}

CASE(specific_is_what_was_set) {
  dispatch_queue_t queue = serial_queue();
  CHECK(!dispatch_queue_get_specific(queue, &key));
  dispatch_queue_set_specific(queue, &key, &left, NULL);
  dispatch_queue_set_specific(queue, &other_key, &right, NULL);
  CHECK(dispatch_queue_get_specific(queue, &key) == &left);
  CHECK(dispatch_queue_get_specific(queue, &other_key) == &right);
  dispatch_queue_set_specific(queue, &key, NULL, NULL);
  CHECK(!dispatch_queue_get_specific(queue, &key));
  CHECK(dispatch_queue_get_specific(queue, &other_key) == &right);
  dispatch_release(queue);
}

CASE(get_specific_looks_at_the_current_queue_then_its_targets) {
  dispatch_queue_t bottom = serial_queue();
  dispatch_queue_t middle = dispatch_queue_create_with_target(NULL, NULL, bottom);
  dispatch_queue_t top = dispatch_queue_create_with_target(NULL, NULL, middle);
  CHECK(!seen_on(top));
  dispatch_queue_set_specific(bottom, &key, &left, NULL);
  CHECK(seen_on(top) == &left);
  dispatch_queue_set_specific(middle, &key, &right, NULL);
  CHECK(seen_on(top) == &right);
  CHECK(seen_on(bottom) == &left);
  CHECK(!dispatch_queue_get_specific(top, &key));
  dispatch_release(top);
  dispatch_release(middle);
  dispatch_release(bottom);
}

CASE(get_specific_outside_of_items_is_null) { CHECK(!dispatch_get_specific(&key)); }

CASE(specific_of_the_main_queue) {
  dispatch_queue_set_specific(dispatch_get_main_queue(), &key, &left, NULL);
  CHECK(dispatch_queue_get_specific(dispatch_get_main_queue(), &key) == &left);
}

CASE(destructor_runs_when_the_value_is_replaced) {
  static latch gone = LATCH(1), other = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  dispatch_queue_set_specific(queue, &key, &gone, open_latch);
  dispatch_queue_set_specific(queue, &key, &other, open_latch);
  latch_wait(&gone);
  CHECK(!latch_is_open(&other));
  CHECK(dispatch_queue_get_specific(queue, &key) == &other);
  dispatch_queue_set_specific(queue, &key, NULL, NULL);
  latch_wait(&other);
  dispatch_release(queue);
}

CASE(destructor_runs_when_the_queue_dies) {
  static latch gone = LATCH(2);
  dispatch_queue_t queue = serial_queue();
  dispatch_queue_set_specific(queue, &key, &gone, open_latch);
  dispatch_queue_set_specific(queue, &other_key, &gone, open_latch);
  drain(queue);
  dispatch_release(queue);
  latch_wait(&gone);
}
