// dispatch_main() moves the main queue to other threads
//
// Code that must run on the process's first thread is submitted to the main queue. In the library
// for Linux dispatch_main() ends that thread, and workers run the queue's items.
#include <dispatch/dispatch.h>
#include <stdlib.h>
#include <unistd.h>

#include "Promise.h"

static void body(void) {
  dispatch_async(dispatch_get_global_queue(0, 0), ^{
    dispatch_sync(dispatch_get_main_queue(), ^{
      bool is_main = gettid() == getpid();
      DECIDE(is_main, "its item ran on %s thread", is_main ? "the main" : "another");
    });
  });
  awaiting("an item of the main queue");
  dispatch_main();
}

int main(void) { promise("under dispatch_main() the main queue runs on the main thread", body); }
