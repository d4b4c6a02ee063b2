// A timer that was suspended fires once for each interval that it missed
//
// While a repeating timer is suspended its intervals pass. On resumption it must deliver once, with
// their number, and no burst of events.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <unistd.h>

#include "Promise.h"

static void body(void) {
  dispatch_queue_t queue = dispatch_queue_create("com.example.timer", NULL);
  dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
  dispatch_semaphore_t fired = dispatch_semaphore_create(0);
  __block unsigned long data = 0;
  __block atomic_int events = 0;
  dispatch_source_set_event_handler(timer, ^{
    data = dispatch_source_get_data(timer);
    // One event for each resumption: the next comes after the next one.
    if (++events) dispatch_suspend(timer);
    dispatch_semaphore_signal(fired);
  });
  dispatch_source_set_timer(timer, dispatch_time(DISPATCH_TIME_NOW, 0), 20000000, 0);
  dispatch_resume(timer);
  awaiting("the timer's first event");
  dispatch_semaphore_wait(fired, DISPATCH_TIME_FOREVER);
  int64_t begin = now_ms();
  sleep_ms(400);
  int64_t asleep = now_ms() - begin;
  awaiting("the timer's event after its resumption");
  dispatch_resume(timer);
  dispatch_semaphore_wait(fired, DISPATCH_TIME_FOREVER);
  bool counts = data * 20 + 40 >= (unsigned long)asleep;
  DECIDE(events == 2 && counts, "after %ld ms it delivered: events %d, intervals %lu", (long)asleep,
         events - 1, data);
}

int main(void) { promise("a timer counts the intervals that pass while it is suspended", body); }
