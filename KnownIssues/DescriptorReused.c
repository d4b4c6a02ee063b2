// A descriptor's number that is used again delivers no events
//
// A program closes a descriptor before it cancels the source, and the system gives the number to
// another file. The library believes that it still watches the number: the new source is silent.
#include <dispatch/dispatch.h>
#include <unistd.h>

#include "Promise.h"

static dispatch_source_t reader(int descriptor, dispatch_semaphore_t event) {
  dispatch_queue_t queue = dispatch_queue_create("com.example.reader", NULL);
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)descriptor, 0, queue);
  dispatch_source_set_event_handler(source, ^{
    char byte;
    if (read(descriptor, &byte, 1) == 1) dispatch_semaphore_signal(event);
  });
  dispatch_resume(source);
  return source;
}

static void body(void) {
  int first[2], second[2];
  if (pipe(first) != 0) decide(false, "there is no pipe");
  dispatch_semaphore_t event = dispatch_semaphore_create(0);
  dispatch_source_t old = reader(first[0], event);
  awaiting("the first source's event");
  if (write(first[1], "a", 1) != 1) decide(false, "the pipe takes no byte");
  dispatch_semaphore_wait(event, DISPATCH_TIME_FOREVER);
  // The mistake. The next descriptor gets the number.
  close(first[0]);
  if (pipe(second) != 0 || second[0] != first[0]) decide(false, "the number is not used again");
  dispatch_source_t new = reader(second[0], event);
  awaiting("the event of the source on the number that is used again");
  if (write(second[1], "b", 1) != 1) decide(false, "the second pipe takes no byte");
  dispatch_semaphore_wait(event, DISPATCH_TIME_FOREVER);
  dispatch_source_cancel(old);
  dispatch_source_cancel(new);
  decide(true, "the source on the number that is used again delivered");
}

int main(void) { promise("a source on a descriptor whose number was used before delivers", body); }
