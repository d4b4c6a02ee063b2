// The same with clang's blocks, and a timer source.
#include <dispatch/dispatch.h>
#include <stdio.h>

int main(void) {
  __block int ticks = 0;
  dispatch_queue_t queue = dispatch_queue_create("ticks", NULL);
  dispatch_semaphore_t finished = dispatch_semaphore_create(0);
  dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
  dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, 1000000, 0);
  dispatch_source_set_event_handler(timer, ^{
    if (++ticks == 3) dispatch_source_cancel(timer);
  });
  dispatch_source_set_cancel_handler(timer, ^{
    dispatch_semaphore_signal(finished);
  });
  dispatch_activate(timer);
  dispatch_semaphore_wait(finished, DISPATCH_TIME_FOREVER);
  printf("%d ticks\n", ticks);
  return ticks == 3 ? 0 : 1;
}
