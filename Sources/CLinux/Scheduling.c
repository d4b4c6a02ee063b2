// A thread's share of the CPUs and disks, and the slack of its timers. The C library lacks these
// calls, or has them with other arguments.
#define _GNU_SOURCE
#include "GrandCentralScheduling.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// From linux/sched/types.h, which cannot be included beside the sched.h of every C library. Version
// 1 of the record ends with the two clamps. A kernel that knows a shorter record refuses non-zero
// fields beyond it.
struct attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;
  uint64_t deadline;
  uint64_t period;
  uint32_t min_utilization;
  uint32_t max_utilization;
};

enum { FLAG_RESET_ON_FORK = 0x01, FLAG_CLAMPS = 0x20 | 0x40, IO_PRIORITY_OF_THREAD = 1 };

int gc_scheduling_get(uint32_t thread, gc_scheduling *scheduling) {
  struct attributes now;
  memset(&now, 0, sizeof now);
  if (syscall(SYS_sched_getattr, thread, &now, (unsigned)sizeof now, 0u) != 0) return errno;
  *scheduling = (gc_scheduling){
      .policy = now.policy,
      .nice = now.nice,
      .slice_nanoseconds = now.runtime,
      .min_utilization = now.min_utilization,
      .max_utilization = now.max_utilization,
      .resets_on_fork = (now.flags & FLAG_RESET_ON_FORK) != 0};
  return 0;
}

int gc_scheduling_set(uint32_t thread, const gc_scheduling *scheduling, bool with_clamps) {
  struct attributes next = {
      .size = sizeof next,
      .policy = scheduling->policy,
      .flags = scheduling->resets_on_fork ? FLAG_RESET_ON_FORK : 0,
      .nice = scheduling->nice,
      .runtime = scheduling->slice_nanoseconds};
  if (with_clamps) {
    next.flags |= FLAG_CLAMPS;
    next.min_utilization = scheduling->min_utilization;
    next.max_utilization = scheduling->max_utilization;
  }
  return syscall(SYS_sched_setattr, thread, &next, 0u) == 0 ? 0 : errno;
}

int gc_nice_floor(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NICE, &limit) != 0) return 20;
  // The limit counts down from 20: 1 is nice 19, 40 is nice -20. getrlimit(2).
  return limit.rlim_cur > 40 ? -20 : 20 - (int)limit.rlim_cur;
}

int gc_io_priority_get(uint32_t thread) {
  long value = syscall(SYS_ioprio_get, IO_PRIORITY_OF_THREAD, thread);
  return value < 0 ? -errno : (int)value;
}

int gc_io_priority_set(uint32_t thread, int priority) {
  return syscall(SYS_ioprio_set, IO_PRIORITY_OF_THREAD, thread, priority) == 0 ? 0 : errno;
}

int64_t gc_timer_slack_get(void) {
  // Not prctl(3), which returns an int: the kernel returns the number itself.
  long value = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0ul, 0ul, 0ul, 0ul);
  return value < 0 ? -errno : value;
}

int gc_timer_slack_set(uint64_t nanoseconds) {
  return syscall(SYS_prctl, PR_SET_TIMERSLACK, nanoseconds, 0ul, 0ul, 0ul) == 0 ? 0 : errno;
}
