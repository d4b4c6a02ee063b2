// Synchronous execution on a queue.
#include "Bench.h"

// Exported by the toolchain's library, but missing from its headers.
extern void dispatch_async_and_wait_f(dispatch_queue_t, void *, dispatch_function_t);

typedef struct sync_work {
  dispatch_queue_t queue;
  size_t ran;
} sync_work;

typedef void (*sync_function)(dispatch_queue_t, void *, dispatch_function_t);

static void idle(size_t count, dispatch_queue_attr_t attribute, sync_function run) {
  sync_work work = {dispatch_queue_create("idle", attribute), 0};
  for (size_t i = 0; i < count; i++) run(work.queue, &work.ran, add_one);
  EXPECT(work.ran == count);
  dispatch_release(work.queue);
}

static void serial(size_t count) { idle(count, NULL, dispatch_sync_f); }
static void reader(size_t count) { idle(count, DISPATCH_QUEUE_CONCURRENT, dispatch_sync_f); }
static void barrier(size_t count) {
  idle(count, DISPATCH_QUEUE_CONCURRENT, dispatch_barrier_sync_f);
}
static void and_wait(size_t count) { idle(count, NULL, dispatch_async_and_wait_f); }

static void targeted(size_t count) {
  dispatch_queue_t bottom = dispatch_queue_create("bottom", NULL);
  sync_work work = {dispatch_queue_create_with_target("top", NULL, bottom), 0};
  for (size_t i = 0; i < count; i++) dispatch_sync_f(work.queue, &work.ran, add_one);
  EXPECT(work.ran == count);
  dispatch_release(work.queue);
  dispatch_release(bottom);
}

static void sync_many(size_t count, void *context) {
  sync_work *work = context;
  for (size_t i = 0; i < count; i++) dispatch_sync_f(work->queue, &work->ran, add_one);
}

static void contended(int threads, size_t count) {
  sync_work work = {dispatch_queue_create("contended", NULL), 0};
  count = (count + 3) / 4 * 4;
  on_threads(threads, count, sync_many, &work);
  EXPECT(work.ran == count);
  dispatch_release(work.queue);
}

static void contended_two(size_t count) { contended(2, count); }
static void contended_four(size_t count) { contended(4, count); }

static void nothing(void *context) { (void)context; }

static void read_and_write(size_t count, void *context) {
  sync_work *work = context;
  for (size_t i = 0; i < count; i++) {
    if (i % 10 == 9) {
      dispatch_barrier_sync_f(work->queue, &work->ran, add_one);
    } else {
      dispatch_sync_f(work->queue, NULL, nothing);
    }
  }
}

static void readers_and_writers(size_t count) {
  sync_work work = {dispatch_queue_create("shared", DISPATCH_QUEUE_CONCURRENT), 0};
  count = (count + 39) / 40 * 40;
  on_threads(4, count, read_and_write, &work);
  EXPECT(work.ran == count / 10);
  dispatch_release(work.queue);
}

static void suspended_idle(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("suspended", NULL);
  for (size_t i = 0; i < count; i++) {
    dispatch_suspend(queue);
    dispatch_resume(queue);
  }
  dispatch_release(queue);
}

// The second of two suspensions, so the count stays above zero.
static void suspended_twice(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("suspended", NULL);
  dispatch_suspend(queue);
  dispatch_suspend(queue);
  for (size_t i = 0; i < count; i++) {
    dispatch_suspend(queue);
    dispatch_resume(queue);
  }
  dispatch_resume(queue);
  dispatch_resume(queue);
  dispatch_release(queue);
}

// A pending item runs at each resumption.
static void suspended_with_work(size_t count) {
  sync_work work = {dispatch_queue_create("suspended", NULL), 0};
  for (size_t i = 0; i < count; i++) {
    dispatch_suspend(work.queue);
    dispatch_async_f(work.queue, &work.ran, add_one);
    dispatch_resume(work.queue);
  }
  size_t before = 0;
  dispatch_sync_f(work.queue, &before, add_one);
  EXPECT(work.ran == count);
  dispatch_release(work.queue);
}

const workload sync_workloads[] = {
  {"sync_f/idle", serial, 0},
  {"sync_f/idle, a target", targeted, 0},
  {"sync_f/idle concurrent", reader, 0},
  {"sync_f/idle barrier", barrier, 0},
  {"sync_f/async_and_wait_f", and_wait, 0},
  {"sync_f/2 threads", contended_two, 0},
  {"sync_f/4 threads", contended_four, 0},
  {"sync_f/readers and writers 9:1, 4 threads", readers_and_writers, 0},
  {"suspend and resume/idle", suspended_idle, 0},
  {"suspend and resume/suspended before", suspended_twice, 0},
  {"suspend and resume/an item waits", suspended_with_work, 0},
  {0},
};
