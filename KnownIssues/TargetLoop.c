// A loop of target queues is not explained
//
// Each of two queues is made the other's target, so their work has no thread on which it could run.
// The library does not say so: the program hangs, or crashes in a stack that shows no reason.
#include <dispatch/dispatch.h>

#include "Promise.h"

static void body(void) {
  dispatch_queue_t reader = dispatch_queue_create("com.example.reader", DISPATCH_QUEUE_CONCURRENT);
  dispatch_queue_t writer = dispatch_queue_create("com.example.writer", DISPATCH_QUEUE_CONCURRENT);
  dispatch_set_target_queue(reader, writer);
  dispatch_set_target_queue(writer, reader);
  awaiting("an item on a loop of targets");
  dispatch_sync(reader, ^{});
  decide(false, "an item ran on a loop of targets");
}

int main(void) {
  promise_to_stop(
      "a loop of targets stops the process and names a queue of it", "com.example.", body);
}
