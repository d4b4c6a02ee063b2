// A workloop stops the process when it receives work
//
// dispatch_workloop_create is exported by the library for Linux, and makes a queue. Work that is
// submitted to it can end the process.
#include <dispatch/dispatch.h>
#include <unistd.h>

#include "Promise.h"

extern dispatch_queue_t dispatch_workloop_create(const char *label);

static void body(void) {
  dispatch_queue_t loop = dispatch_workloop_create("com.example.loop");
  dispatch_group_t group = dispatch_group_create();
  __block int sum = 0;
  awaiting("the items of a workloop");
  for (int i = 1; i <= 100; i++) dispatch_group_async(group, loop, ^{ sum += i; });
  dispatch_sync(loop, ^{ sum += 0; });
  dispatch_async(loop, ^{ sum += 0; });
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  DECIDE(sum == 5050, "a hundred items added up to %d", sum);
}

int main(void) { promise("a workloop runs its items one at a time", body); }
