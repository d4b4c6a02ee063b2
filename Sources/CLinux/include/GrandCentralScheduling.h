// How the kernel schedules a thread, its reads and writes, and its timers.
#ifndef GRANDCENTRAL_SCHEDULING_H
#define GRANDCENTRAL_SCHEDULING_H

#include <stdbool.h>
#include <stdint.h>

// Scheduling.c. The scheduling of a thread; 0: the calling thread. sched_setattr(2).
typedef struct gc_scheduling {
  uint32_t policy;
  int32_t nice;
  uint64_t slice_nanoseconds;  // time before another thread's turn; to set, 0: the kernel's choice
  uint32_t min_utilization;  // clamps of the utilization, in 1024ths of the largest CPU
  uint32_t max_utilization;
  bool resets_on_fork;
} gc_scheduling;
// Each returns 0 or an errno: EPERM, ESRCH, EINVAL; E2BIG or EOPNOTSUPP on older kernels.
int gc_scheduling_get(uint32_t thread, gc_scheduling *_Nonnull scheduling);
int gc_scheduling_set(uint32_t thread, const gc_scheduling *_Nonnull scheduling, bool with_clamps);
// The lowest nice value that this process may set without privilege: RLIMIT_NICE, getrlimit(2). 20:
// none.
int gc_nice_floor(void);
// ioprio_get(2) returns class and level in the kernel's packing, or a negative errno. ioprio_set(2)
// returns 0 or an errno.
int gc_io_priority_get(uint32_t thread);
int gc_io_priority_set(uint32_t thread, int priority);
// The timer slack of the calling thread in nanoseconds, prctl(2), or a negative errno. Setting 0
// restores the initial value; returns 0 or an errno.
int64_t gc_timer_slack_get(void);
int gc_timer_slack_set(uint64_t nanoseconds);

#endif
