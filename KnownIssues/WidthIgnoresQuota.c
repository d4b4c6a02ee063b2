// More items run at once than the container's quota pays for
//
// A control group gives the process the time of one CPU. A pool that counts the machine's CPUs
// uses the quota up early in each period, and then all its threads stand still.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "Promise.h"

static atomic_int running, most;
static char group_folder[200];

static bool put(const char *folder, const char *file, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE *stream = fopen(path, "w");
  if (!stream) return false;
  bool is_written = fputs(text, stream) >= 0;
  return fclose(stream) == 0 && is_written;
}

// Moves this process into a new group with one CPU's time, of version 2 or 1.
static bool enter_group(const char *parent, const char *file, const char *quota) {
  char number[20];
  snprintf(number, sizeof number, "%d", getpid());
  snprintf(group_folder, sizeof group_folder, "%s/known-issue-%d", parent, getpid());
  if (mkdir(group_folder, 0755) != 0) return false;
  if (put(group_folder, file, quota) && put(group_folder, "cgroup.procs", number)) return true;
  rmdir(group_folder);
  return false;
}

static void leave_group(const char *parent) {
  char number[20];
  snprintf(number, sizeof number, "%d", getpid());
  put(parent, "cgroup.procs", number);
  rmdir(group_folder);
}

static void compute(void) {
  int count = ++running, seen = most;
  while (count > seen && !atomic_compare_exchange_weak(&most, &seen, count)) {
  }
  compute_ms(1);
  running--;
}

static void body(void) {
  const char *parent = "/sys/fs/cgroup/cpu";
  bool is_in = enter_group(parent, "cpu.cfs_quota_us", "100000");
  if (!is_in) is_in = enter_group(parent = "/sys/fs/cgroup", "cpu.max", "100000 100000");
  if (!is_in) decide(true, "nothing: the process may make no control group here");
  awaiting("items that compute");
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < 100; i++) {
    dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{ compute(); });
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  leave_group(parent);
  DECIDE(most == 1, "the largest number of items at once was %d", most);
}

int main(void) { promise("a process with a quota of one CPU runs one item at a time", body); }
