// The rows of items on queues: sync, async and apply.
#include "Rows.h"

// Exported by both libraries, but missing from the toolchain's headers.
extern void dispatch_async_and_wait_f(dispatch_queue_t, void *, dispatch_function_t);

// sync: on this thread alone.

typedef void (*sync_function)(dispatch_queue_t, void *, dispatch_function_t);

static void sync_on(dispatch_queue_t queue, size_t count, sync_function run) {
  for (size_t i = 0; i < count; i++) run(queue, &ran, add_one);
  dispatch_release(queue);
}

static void sync_idle(size_t count) { sync_on(serial(), count, dispatch_sync_f); }
static void sync_reader(size_t count) { sync_on(concurrent(), count, dispatch_sync_f); }
static void sync_barrier(size_t count) { sync_on(concurrent(), count, dispatch_barrier_sync_f); }
static void sync_and_wait(size_t count) { sync_on(serial(), count, dispatch_async_and_wait_f); }
static void sync_global(size_t count) {
  sync_on(dispatch_get_global_queue(0, 0), count, dispatch_sync_f);
}
static void sync_targeted(size_t count) {
  dispatch_queue_t bottom = serial();
  sync_on(dispatch_queue_create_with_target("top", NULL, bottom), count, dispatch_sync_f);
  dispatch_release(bottom);
}
static void sync_block(size_t count) {
  dispatch_queue_t queue = serial();
  for (size_t i = 0; i < count; i++) dispatch_sync(queue, ^{ ran += i; });
  dispatch_release(queue);
}

// async: submitted by this thread while the queue's first item waits, then drained by one worker.

static void async_on(dispatch_queue_t queue, size_t count, sync_function submit) {
  held(queue);
  for (size_t i = 0; i < count; i++) submit(queue, &ran, add_one);
  drain(queue);
}

static void async_serial(size_t count) { async_on(serial(), count, dispatch_async_f); }
static void async_concurrent(size_t count) { async_on(concurrent(), count, dispatch_async_f); }
static void async_barrier(size_t count) { async_on(concurrent(), count, dispatch_barrier_async_f); }

static void async_block(size_t count) {
  dispatch_queue_t queue = held(serial());
  for (size_t i = 0; i < count; i++) dispatch_async(queue, ^{ ran += i; });
  drain(queue);
}

static void async_group(size_t count) {
  dispatch_queue_t queue = held(serial());
  dispatch_group_t group = dispatch_group_create();
  for (size_t i = 0; i < count; i++) dispatch_group_async_f(group, queue, &ran, add_one);
  drain(queue);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  dispatch_release(group);
}

// Items that submit the next one, on one worker.
typedef struct chain {
  dispatch_queue_t queues[2];
  size_t left;
} chain;

static void hop(void *context) {
  chain *all = context;
  if (all->left-- == 0) return report_end(NULL);
  dispatch_async_f(all->queues[all->left & 1], all, hop);
}

static void async_again(size_t count) {
  dispatch_queue_t queue = serial();
  chain all = {{queue, queue}, count};
  dispatch_async_f(queue, &all, hop);
  await_end();
  dispatch_release(queue);
}

static void async_between(size_t count) {
  chain all = {{serial(), serial()}, count};
  dispatch_async_f(all.queues[0], &all, hop);
  await_end();
  for (int i = 0; i < 2; i++) dispatch_release(all.queues[i]);
}

static void async_global(size_t count) {
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  chain all = {{queue, queue}, count};
  dispatch_async_f(queue, &all, hop);
  await_end();
}

// From an idle engine to the worker and back: a wake-up each.
static void async_wake(size_t count) {
  dispatch_queue_t queue = serial();
  for (size_t i = 0; i < count; i++) {
    dispatch_async_f(queue, NULL, report_end);
    await_end();
  }
  dispatch_release(queue);
}

static void apply_serial(size_t count) {
  dispatch_queue_t queue = serial();
  dispatch_apply_f(count, queue, &ran, add_one_and_index);
  dispatch_release(queue);
}

static void apply_global(size_t count) {
  dispatch_apply_f(count, dispatch_get_global_queue(0, 0), &ran, add_one_and_index);
}

const row queue_rows[] = {
  {"sync, idle serial queue", sync_idle, ALONE},
  {"sync, idle serial queue, block", sync_block, ALONE},
  {"sync, idle queue on a queue", sync_targeted, ALONE},
  {"sync, reader", sync_reader, ALONE},
  {"sync, barrier", sync_barrier, ALONE},
  {"sync, global queue", sync_global, ALONE},
  {"async_and_wait, idle serial queue", sync_and_wait, ALONE},
  {"async and drain, serial queue", async_serial, DRAINED},
  {"async and drain, serial queue, block", async_block, DRAINED},
  {"async and drain, concurrent queue", async_concurrent, TAKEN},
  {"async and drain, barriers", async_barrier, DRAINED},
  {"async and drain, group", async_group, DRAINED},
  {"async from an item, own queue", async_again, DRAINED},
  {"async from an item, other queue", async_between, DRAINED},
  {"async from an item, global queue", async_global, DRAINED},
  {"async and back, worker woken", async_wake, SHOWN},
  {"apply, an iteration, serial queue", apply_serial, ALONE},
  {"apply, an iteration, global queue", apply_global, ALONE},
  {0},
};
