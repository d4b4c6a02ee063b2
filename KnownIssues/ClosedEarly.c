// The cancel handler of a source whose descriptor was closed does not run
//
// A program closes the descriptor first and cancels the source then: a mistake, but a common one.
// The program frees what the source uses in the cancel handler, which must run nevertheless.
#include <dispatch/dispatch.h>
#include <unistd.h>

#include "Promise.h"

static void one_round(int number) {
  int ends[2];
  if (pipe(ends) != 0) decide(false, "there is no pipe");
  int end = ends[number % 2];
  dispatch_queue_t queue = dispatch_queue_create("com.example.reader", NULL);
  dispatch_semaphore_t registered = dispatch_semaphore_create(0);
  dispatch_semaphore_t cancelled = dispatch_semaphore_create(0);
  dispatch_source_type_t type = number % 2 ? DISPATCH_SOURCE_TYPE_WRITE : DISPATCH_SOURCE_TYPE_READ;
  dispatch_source_t source = dispatch_source_create(type, (uintptr_t)end, 0, queue);
  dispatch_source_set_event_handler(source, ^{});
  dispatch_source_set_registration_handler(source, ^{ dispatch_semaphore_signal(registered); });
  dispatch_source_set_cancel_handler(source, ^{ dispatch_semaphore_signal(cancelled); });
  dispatch_resume(source);
  dispatch_semaphore_wait(registered, DISPATCH_TIME_FOREVER);
  close(ends[0]);
  close(ends[1]);
  dispatch_source_cancel(source);
  dispatch_semaphore_wait(cancelled, DISPATCH_TIME_FOREVER);
}

static void body(void) {
  enum { ROUNDS = 100 };
  for (int i = 0; i < ROUNDS; i++) {
    char text[60];
    snprintf(text, sizeof text, "the cancel handler of source %d of %d", i + 1, ROUNDS);
    awaiting(text);
    one_round(i);
  }
  DECIDE(true, "the cancel handlers of %d sources ran", ROUNDS);
}

int main(void) { promise("a source whose descriptor was closed can still be cancelled", body); }
