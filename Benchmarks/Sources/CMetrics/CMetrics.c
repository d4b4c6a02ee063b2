// Numbers the threads in the order in which they first ask for their stripe.
#include "CMetrics.h"

static uint64_t next_stripe;
static __thread uint64_t own_stripe;

uint64_t metrics_thread_stripe(void) {
  if (own_stripe == 0) own_stripe = __atomic_add_fetch(&next_stripe, 1, __ATOMIC_RELAXED);
  return own_stripe;
}
