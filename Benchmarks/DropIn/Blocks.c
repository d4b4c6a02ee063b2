// Blocks instead of functions.
#include "Bench.h"

#include <Block.h>

static void async_blocks(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("blocks", NULL);
  size_t ran = 0, *where = &ran;
  for (size_t i = 0; i < count; i++) dispatch_async(queue, ^{ *where += 1; });
  dispatch_sync(queue, ^{});
  EXPECT(ran == count);
  dispatch_release(queue);
}

static void sync_blocks(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("blocks", NULL);
  __block size_t ran = 0;
  for (size_t i = 0; i < count; i++) dispatch_sync(queue, ^{ ran += 1; });
  EXPECT(ran == count);
  dispatch_release(queue);
}

static void created(size_t count) {
  __block size_t ran = 0;
  for (size_t i = 0; i < count; i++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ ran += 1; });
    block();
    Block_release(block);
  }
  EXPECT(ran == count);
}

static void created_and_waited(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("blocks", NULL);
  __block size_t ran = 0;
  for (size_t i = 0; i < count; i++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ ran += 1; });
    dispatch_sync(queue, block);
    EXPECT(dispatch_block_wait(block, DISPATCH_TIME_FOREVER) == 0);
    Block_release(block);
  }
  EXPECT(ran == count);
  dispatch_release(queue);
}

const workload block_workloads[] = {
  {"blocks/async", async_blocks, 0},
  {"blocks/sync, idle", sync_blocks, 0},
  {"blocks/block_create, called", created, 0},
  {"blocks/block_create, sync, block_wait", created_and_waited, 0},
  {0},
};
