// dispatch_apply: many calls of one function, in parallel.
#include "../Check.h"

typedef struct visits {
  _Atomic int counts[10000];
  _Atomic long total;
} visits;
static visits seen;

static void visit(void *context, size_t iteration) {
  visits *to = context;
  atomic_fetch_add(&to->counts[iteration], 1);
  atomic_fetch_add(&to->total, 1);
}
static void expect_each_once(size_t count) {
  CHECK_EQUAL(seen.total, count);
  for (size_t n = 0; n < count; n++) CHECK_EQUAL(seen.counts[n], 1);
}

CASE(apply_f_calls_each_number_once) {
  dispatch_apply_f(10000, global_queue(), &seen, visit);
  expect_each_once(10000);
}

CASE(apply_f_on_its_own_choice_of_queue) {
  dispatch_apply_f(10000, DISPATCH_APPLY_AUTO, &seen, visit);
  expect_each_once(10000);
}

CASE(apply_f_on_a_concurrent_queue) {
  dispatch_queue_t queue = concurrent_queue();
  dispatch_apply_f(1000, queue, &seen, visit);
  expect_each_once(1000);
  dispatch_release(queue);
}

CASE(apply_f_of_none_does_nothing) {
  dispatch_apply_f(0, global_queue(), &seen, visit);
  CHECK_EQUAL(seen.total, 0);
}

CASE(apply_f_of_one) {
  dispatch_apply_f(1, global_queue(), &seen, visit);
  expect_each_once(1);
}

static journal order = JOURNAL;
static void note(void *context, size_t iteration) {
  (void)context;
  journal_add(&order, (int)iteration);
}

CASE(apply_f_on_a_serial_queue_is_in_order) {
  dispatch_queue_t queue = serial_queue();
  dispatch_apply_f(6, queue, NULL, note);
  journal_expect(&order, 0, 1, 2, 3, 4, 5);
  dispatch_release(queue);
}

static void inner(void *context, size_t iteration) {
  visit(context, iteration % 100);
}
static void outer(void *context, size_t iteration) {
  (void)iteration;
  dispatch_apply_f(100, DISPATCH_APPLY_AUTO, context, inner);
}

CASE(apply_f_nests) {
  dispatch_apply_f(50, DISPATCH_APPLY_AUTO, &seen, outer);
  CHECK_EQUAL(seen.total, 5000);
  for (int n = 0; n < 100; n++) CHECK_EQUAL(seen.counts[n], 50);
}

static void apply_inside(void *context) {
  dispatch_apply_f(1000, global_queue(), context, visit);
}

CASE(apply_f_inside_an_item) {
  dispatch_queue_t queue = serial_queue();
  dispatch_sync_f(queue, &seen, apply_inside);
  expect_each_once(1000);
  dispatch_release(queue);
}

#ifdef __BLOCKS__
CASE(apply_calls_a_block) {
  dispatch_apply(500, global_queue(), ^(size_t iteration) { visit(&seen, iteration); });
  expect_each_once(500);
}
#endif
