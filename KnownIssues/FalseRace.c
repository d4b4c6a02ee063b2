// The thread sanitizer reports a race of what a block's end orders
//
// dispatch_block_wait returns after the block has run, so what the block wrote may be read, and so
// may its notification, which a serial queue runs after the one before. The sanitizer knows only
// some calls of the library, and these are not among them.
//
// Flags: -fsanitize=thread
#include <dispatch/dispatch.h>

#include "Promise.h"

void __tsan_on_report(void *report) {
  (void)report;
  decide(false, "the sanitizer reported a race");
}

extern void dispatch_async_and_wait(dispatch_queue_t, dispatch_block_t);

static int values[1000], notified[1000];

static void body(void) {
  dispatch_queue_t queue = dispatch_queue_create("com.example.writer", NULL);
  awaiting("the blocks");
  dispatch_queue_t other = dispatch_queue_create("com.example.reader", NULL);
  __block int sum_of_notified = 0;
  int sum = 0;
  for (int i = 0; i < 1000; i++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ values[i] = i; });
    dispatch_async(queue, block);
    dispatch_block_wait(block, DISPATCH_TIME_FOREVER);
    sum += values[i];
    // The notification runs after the block, on another queue.
    block = dispatch_block_create(0, ^{ notified[i] = i; });
    dispatch_block_notify(block, other, ^{ sum_of_notified += notified[i]; });
    dispatch_async(queue, block);
    dispatch_async_and_wait(queue, ^{ values[i] = 2 * i; });
    values[i] = 0;
  }
  dispatch_sync(queue, ^{});
  dispatch_sync(other, ^{});
  DECIDE(sum == 499500 && sum_of_notified == sum,
         "the sanitizer was silent, and the blocks added up to %d and %d", sum, sum_of_notified);
}

int main(void) { promise("to wait for a block, or be notified, is no race for the thread sanitizer", body); }
