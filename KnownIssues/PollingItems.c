// Items that poll keep the item that they wait for from starting
//
// An item that sleeps for some microseconds, looks and sleeps again blocks its thread nearly all
// the time, but is runnable at many moments. A pool that samples its threads counts it as busy.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <unistd.h>

#include "Promise.h"

static atomic_bool is_set;
static atomic_int polling;

static void body(void) {
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  dispatch_group_t group = dispatch_group_create();
  enum { ITEMS = 32 };
  int64_t start = now_ms();
  for (int i = 0; i < ITEMS; i++) {
    dispatch_group_async(group, queue, ^{
      char text[80];
      snprintf(text, sizeof text, "the item that sets the flag; %d items poll it", ++polling);
      awaiting(text);
      while (!is_set) usleep(300);
    });
  }
  dispatch_group_async(group, queue, ^{ is_set = true; });
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  int64_t elapsed = now_ms() - start;
  DECIDE(elapsed < 15000, "the flag was set after %.1f s", elapsed / 1e3);
}

int main(void) { promise("an item runs behind 32 that poll for what it does", body); }
