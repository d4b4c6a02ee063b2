// After fork the child cannot use queues
//
// A process that has used the library forks. In the child no thread of the pool exists any more;
// the library stops the child, or leaves its work undone.
#include <dispatch/dispatch.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Promise.h"

static int use_queues(void) {
  dispatch_queue_t queue = dispatch_queue_create("com.example.child", NULL);
  dispatch_group_t group = dispatch_group_create();
  __block int sum = 0;
  for (int i = 1; i <= 10; i++) dispatch_group_async(group, queue, ^{ sum += i; });
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  dispatch_semaphore_t fired = dispatch_semaphore_create(0);
  dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 1000000), queue, ^{
    dispatch_semaphore_signal(fired);
  });
  dispatch_semaphore_wait(fired, DISPATCH_TIME_FOREVER);
  return sum;
}

static void body(void) {
  if (use_queues() != 55) decide(false, "the parent's queue is wrong");
  awaiting("the child's queues and timer");
  pid_t child = fork();
  if (child == 0) _exit(use_queues());
  int status;
  waitpid(child, &status, 0);
  bool ran = WIFEXITED(status) && WEXITSTATUS(status) == 55;
  if (ran) decide(true, "the child's items and timer ran");
  DECIDE(false, "the child ended with status 0x%x instead of running its items", status);
}

int main(void) { promise("a forked child uses queues, groups and timers", body); }
