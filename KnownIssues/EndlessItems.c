// Items behind endless ones of a global queue never begin
//
// The library for Linux adds a thread only if too few threads are runnable. Items that compute
// without end are always runnable, so what is queued behind them waits as long as they do.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <unistd.h>

#include "Promise.h"

static atomic_bool has_run;
static atomic_int computing;

static void body(void) {
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < count; i++) {
    dispatch_group_async(group, queue, ^{
      computing++;
      while (!has_run) {
      }
    });
  }
  awaiting("the items that compute");
  while (computing < count) sleep_ms(1);
  awaiting("the item behind those that compute");
  int64_t start = now_ms();
  dispatch_group_async(group, queue, ^{ has_run = true; });
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  DECIDE(true, "the item behind those that compute ran after %.1f s", (now_ms() - start) / 1e3);
}

int main(void) {
  promise("an item begins behind as many endless items as there are CPUs", body);
}
