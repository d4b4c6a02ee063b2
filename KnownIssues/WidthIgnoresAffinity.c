// More items run at once than the process has CPUs
//
// A container or taskset(1) restricts the process to one CPU. A pool that counts the machine's CPUs
// runs several computing items at once, which slow each other down.
#include <dispatch/dispatch.h>
#include <sched.h>
#include <stdatomic.h>

#include "Promise.h"

static atomic_int running, most;

static void compute(void) {
  int count = ++running, seen = most;
  while (count > seen && !atomic_compare_exchange_weak(&most, &seen, count)) {
  }
  compute_ms(1);
  running--;
}

static void body(void) {
  cpu_set_t mask, one;
  sched_getaffinity(0, sizeof mask, &mask);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
    if (CPU_ISSET(cpu, &mask)) CPU_SET(cpu, &one);
  }
  if (CPU_COUNT(&mask) == 1) decide(true, "the machine gives this process one CPU anyway");
  sched_setaffinity(0, sizeof one, &one);
  awaiting("items that compute");
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < 100; i++) {
    dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{ compute(); });
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  DECIDE(most == 1, "the largest number of items at once was %d", most);
}

int main(void) { promise("a process on one CPU runs one item of a global queue at a time", body); }
