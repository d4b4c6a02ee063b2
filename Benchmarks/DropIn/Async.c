// Asynchronous submission.
#include "Bench.h"

#include <stdatomic.h>

// Waits for the last of many items, each of which calls finish_one().
typedef struct countdown {
  _Atomic size_t left;
  dispatch_semaphore_t done;
} countdown;

static void finish_one(void *context) {
  countdown *all = context;
  if (atomic_fetch_sub(&all->left, 1) == 1) dispatch_semaphore_signal(all->done);
}

static void begin(countdown *all, size_t count) {
  atomic_init(&all->left, count);
  all->done = dispatch_semaphore_create(0);
}

static void end(countdown *all) {
  dispatch_semaphore_wait(all->done, DISPATCH_TIME_FOREVER);
  dispatch_release(all->done);
}

typedef struct fan_in {
  dispatch_queue_t queue;
  size_t ran;
} fan_in;

static void submit_many(size_t count, void *context) {
  fan_in *work = context;
  for (size_t i = 0; i < count; i++) dispatch_async_f(work->queue, &work->ran, add_one);
}

static void into_serial(int threads, size_t count) {
  fan_in work = {dispatch_queue_create("serial", NULL), 0};
  if (threads == 1) {
    submit_many(count, &work);
  } else {
    count = (count + 3) / 4 * 4;
    on_threads(threads, count, submit_many, &work);
  }
  // Queued after all other items.
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_async_f(work.queue, done, signal_semaphore);
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  EXPECT(work.ran == count);
  dispatch_release(done);
  dispatch_release(work.queue);
}

static void serial_one(size_t count) { into_serial(1, count); }
static void serial_four(size_t count) { into_serial(4, count); }

static void onto(dispatch_queue_t queue, size_t count) {
  countdown all;
  begin(&all, count);
  for (size_t i = 0; i < count; i++) dispatch_async_f(queue, &all, finish_one);
  end(&all);
}

static void global(size_t count) { onto(dispatch_get_global_queue(0, 0), count); }

static void concurrent(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
  onto(queue, count);
  dispatch_release(queue);
}

static void barriers(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("barriers", DISPATCH_QUEUE_CONCURRENT);
  size_t ran = 0;
  for (size_t i = 0; i < count; i++) dispatch_barrier_async_f(queue, &ran, add_one);
  dispatch_barrier_sync_f(queue, &ran, add_one);
  EXPECT(ran == count + 1);
  dispatch_release(queue);
}

typedef struct ping_pong {
  dispatch_queue_t queues[2];
  size_t left;
  dispatch_semaphore_t done;
} ping_pong;

static void hop(void *context) {
  ping_pong *game = context;
  if (game->left-- == 0) {
    dispatch_semaphore_signal(game->done);
    return;
  }
  dispatch_async_f(game->queues[game->left & 1], game, hop);
}

static void between_two(size_t count) {
  ping_pong game = {
    {dispatch_queue_create("ping", NULL), dispatch_queue_create("pong", NULL)},
    count,
    dispatch_semaphore_create(0),
  };
  dispatch_async_f(game.queues[0], &game, hop);
  dispatch_semaphore_wait(game.done, DISPATCH_TIME_FOREVER);
  // The last hop has ended when both queues are empty.
  for (int i = 0; i < 2; i++) {
    size_t ignored = 0;
    dispatch_sync_f(game.queues[i], &ignored, add_one);
    dispatch_release(game.queues[i]);
  }
  dispatch_release(game.done);
}

// A tree of items, each of which submits two.
typedef struct tree {
  countdown all;
  dispatch_queue_t queue;
} tree;

static _Atomic(tree *) current_tree;

static void grow(void *context) {
  tree *all = atomic_load_explicit(&current_tree, memory_order_relaxed);
  size_t depth = (size_t)context;
  if (depth > 0) {
    dispatch_async_f(all->queue, (void *)(depth - 1), grow);
    dispatch_async_f(all->queue, (void *)(depth - 1), grow);
  }
  finish_one(&all->all);
}

enum { TREE_DEPTH = 15, TREE_ITEMS = (2 << TREE_DEPTH) - 1 };

static void recursion(size_t count) {
  EXPECT(count == TREE_ITEMS);
  tree all;
  all.queue = dispatch_get_global_queue(0, 0);
  begin(&all.all, count);
  atomic_store(&current_tree, &all);
  dispatch_async_f(all.queue, (void *)(size_t)TREE_DEPTH, grow);
  end(&all.all);
}

const workload async_workloads[] = {
  {"async_f/serial/1 producer", serial_one, 0},
  {"async_f/serial/4 producers", serial_four, 0},
  {"async_f/global", global, 0},
  {"async_f/concurrent", concurrent, 0},
  {"async_f/barriers", barriers, 0},
  {"async_f/ping-pong of two queues", between_two, 0},
  {"async_f/tree of 65,535", recursion, TREE_ITEMS},
  {0},
};
