// Sources that are cancelled while their descriptors are busy crash the process
//
// The rules are kept here: a descriptor is closed in the cancel handler and not before. Threads
// make and cancel sources of busy pipes, whose numbers the system gives out again at once.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <unistd.h>

#include "Promise.h"

enum { LANES = 4, ROUNDS = 500 };

static void one_round(dispatch_queue_t queue) {
  int ends[2];
  if (pipe(ends) != 0) decide(false, "there is no pipe");
  int end = ends[0];
  dispatch_semaphore_t event = dispatch_semaphore_create(0);
  dispatch_semaphore_t cancelled = dispatch_semaphore_create(0);
  __block atomic_bool is_cancelled = false;
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)end, 0, queue);
  dispatch_source_set_event_handler(source, ^{
    if (is_cancelled) decide(false, "an event handler ran after the cancel handler");
    dispatch_semaphore_signal(event);
  });
  dispatch_source_set_cancel_handler(source, ^{
    if (is_cancelled) decide(false, "a cancel handler ran twice");
    is_cancelled = true;
    close(end);
    dispatch_semaphore_signal(cancelled);
  });
  dispatch_resume(source);
  if (write(ends[1], "a", 1) != 1) decide(false, "the pipe takes no byte");
  dispatch_semaphore_wait(event, DISPATCH_TIME_FOREVER);
  // The byte stays in the pipe, so events continue until the cancellation takes effect.
  dispatch_source_cancel(source);
  dispatch_semaphore_wait(cancelled, DISPATCH_TIME_FOREVER);
  dispatch_release(source);
  close(ends[1]);
}

static void body(void) {
  awaiting("the events and cancel handlers");
  dispatch_group_t group = dispatch_group_create();
  for (int lane = 0; lane < LANES; lane++) {
    dispatch_queue_t driver = dispatch_queue_create("com.example.driver", NULL);
    dispatch_queue_t queue = dispatch_queue_create("com.example.sources", NULL);
    dispatch_group_async(group, driver, ^{
      for (int round = 0; round < ROUNDS; round++) one_round(queue);
    });
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  DECIDE(true, "%d sources delivered and were cancelled", LANES * ROUNDS);
}

int main(void) {
  promise("sources on numbers that are used again deliver, and are cancelled once", body);
}
