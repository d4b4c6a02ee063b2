// The thread sanitizer reports a race of what a block's end orders
//
// dispatch_block_wait returns after the block has run, so what the block wrote may be read. The
// sanitizer knows only some calls of the library, and this is not one of them.
//
// Flags: -fsanitize=thread
#include <dispatch/dispatch.h>

#include "Promise.h"

void __tsan_on_report(void *report) {
  (void)report;
  decide(false, "the sanitizer reported a race");
}

extern void dispatch_async_and_wait(dispatch_queue_t, dispatch_block_t);
static int values[1000];

static void body(void) {
  dispatch_queue_t queue = dispatch_queue_create("com.example.writer", NULL);
  awaiting("the blocks");
  int sum = 0;
  for (int i = 0; i < 1000; i++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ values[i] = i; });
    dispatch_async(queue, block);
    dispatch_block_wait(block, DISPATCH_TIME_FOREVER);
    sum += values[i];
    dispatch_async_and_wait(queue, ^{ values[i] = 2 * i; });
    values[i] = 0;
  }
  DECIDE(sum == 499500, "the sanitizer was silent, and the blocks added up to %d", sum);
}

int main(void) { promise("waiting for a block is no race for the thread sanitizer", body); }
