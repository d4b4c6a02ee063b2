// A changed CPU mask is noticed too late, or never
//
// taskset(1) or a container's manager gives a running process fewer CPUs. The pool keeps the width
// that it had at its start, so items share CPUs that are no longer there.
#include <dirent.h>
#include <dispatch/dispatch.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "Promise.h"

static atomic_int running, most;

static void compute(void) {
  int count = ++running, seen = most;
  while (count > seen && !atomic_compare_exchange_weak(&most, &seen, count)) {
  }
  compute_ms(1);
  running--;
}

// As taskset --all-tasks does.
static void run_on(const cpu_set_t *mask) {
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(tasks));) {
    if (entry->d_name[0] != '.') sched_setaffinity(atoi(entry->d_name), sizeof *mask, mask);
  }
  closedir(tasks);
}

static void compute_100_items(void) {
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < 100; i++) {
    dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{ compute(); });
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
}

static void body(void) {
  awaiting("items on all CPUs");
  compute_100_items();
  cpu_set_t mask, one;
  sched_getaffinity(0, sizeof mask, &mask);
  if (CPU_COUNT(&mask) == 1) decide(true, "the machine gives this process one CPU anyway");
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
    if (CPU_ISSET(cpu, &mask)) CPU_SET(cpu, &one);
  }
  awaiting("items on one CPU");
  run_on(&one);
  // The pool may need some rounds until it notices.
  int64_t limit = now_ms() + 10000;
  int rounds = 0;
  do {
    most = 0;
    rounds++;
    compute_100_items();
  } while (most > 1 && now_ms() < limit);
  DECIDE(most == 1, "after %d rounds the largest number of items at once was %d", rounds, most);
}

int main(void) { promise("a process whose CPU mask shrinks to one CPU soon runs one item at a time", body); }
