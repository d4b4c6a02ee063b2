// Work of a higher class that items of a lower class submit.
#include "../Check.h"

enum { ROUNDS = 20, ITEMS = 200, LOW_CLASS = 0x11, HIGH_CLASS = 0x19 };

static dispatch_queue_t high;
static atomic_int has_arrived;

static void arrive(void *context) {
  (void)context;
  atomic_store(&has_arrived, 1);
}

static void submit_and_end(void *ended) { dispatch_async_f(high, ended, open_latch); }

static void submit_and_wait_busily(void *ended) {
  dispatch_async_f(high, NULL, arrive);
  while (!atomic_load_explicit(&has_arrived, memory_order_relaxed)) {}
  latch_down(ended);
}

// After many items that ended right after they had submitted urgent work, one lasts until that work
// has run.
CASE(urgent_work_starts_although_the_item_that_submitted_it_lasts) {
  high = dispatch_queue_create(
    "high", dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_SERIAL, HIGH_CLASS, 0));
  dispatch_queue_t low = dispatch_get_global_queue(LOW_CLASS, 0);
  for (int round = 0; round < ROUNDS; round++) {
    latch all = LATCH(ITEMS), last = LATCH(1);
    for (int n = 0; n < ITEMS; n++) dispatch_async_f(low, &all, submit_and_end);
    latch_wait(&all);
    atomic_store(&has_arrived, 0);
    dispatch_async_f(low, &last, submit_and_wait_busily);
    latch_wait(&last);
  }
}
