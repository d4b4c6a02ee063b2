// The kernel's scheduling attributes of a thread, read without the engine's wrappers.
#define _GNU_SOURCE
#include "CFaults.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int faults_treatment_of(int thread, faults_treatment *treatment) {
  // sched_getattr(2): size, policy, flags, nice, priority, three times; the first is the slice.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t times[3];
  } now;
  memset(&now, 0, sizeof now);
  if (syscall(SYS_sched_getattr, thread, &now, (unsigned)sizeof now, 0u)) return errno;
  long disk = syscall(SYS_ioprio_get, 1, thread);
  if (disk < 0) return errno;
  long slack = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
  if (slack < 0) return errno;
  *treatment = (faults_treatment){
      .policy = (int)now.policy,
      .nice = now.nice,
      .slice_nanoseconds = (int64_t)now.times[0],
      .io_priority = (int)disk,
      .timer_slack_nanoseconds = slack};
  return 0;
}

int faults_set_nice(int value) {
  return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), value) ? errno : 0;
}

int faults_nice_floor(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NICE, &limit)) return 20;
  return limit.rlim_cur > 40 ? -20 : 20 - (int)limit.rlim_cur;
}
