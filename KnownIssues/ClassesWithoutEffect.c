// Quality of service changes nothing about a thread
//
// A background item must yield to the user's work: for the CPU, for disks and for timers. The
// library for Linux runs all classes on threads that the kernel treats alike.
#include <dispatch/dispatch.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "Promise.h"

struct treatment { int policy, disk_priority, slack; };

static struct treatment treatment_in(intptr_t qos) {
  __block struct treatment found;
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async(group, dispatch_get_global_queue(qos, 0), ^{
    found.policy = sched_getscheduler(0);
    found.disk_priority = (int)syscall(SYS_ioprio_get, 1, 0);
    found.slack = prctl(PR_GET_TIMERSLACK);
  });
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  return found;
}

static void body(void) {
  awaiting("one item of each class");
  struct treatment urgent = treatment_in(0x19), background = treatment_in(0x09);
  int differences = (urgent.policy != background.policy) +
                    (urgent.disk_priority != background.disk_priority) +
                    (urgent.slack != background.slack);
  DECIDE(differences > 0, "of policy, disk priority and timer slack, %d differ", differences);
}

int main(void) { promise("the kernel treats a background item unlike a user-initiated one", body); }
