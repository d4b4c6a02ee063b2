// What a row is, and what the rows share. Threads wait for each other in read(2), because such a
// wait runs no code of the engine.
#include <dispatch/dispatch.h>
#include <stdlib.h>
#include <unistd.h>

// How exactly an operation is counted: the tolerance of its row in percent.
enum {
  // On this thread alone. The count is exact with one compiler; another minor version of it, and
  // the C library's choice of memcpy(3) by processor, change it a little.
  ALONE = 2,
  // A worker drains. The engine's monitor looks once a millisecond, which takes more instructions
  // for each operation the slower the machine is.
  DRAINED = 15,
  // Readers of a concurrent queue, taken from an injector: fewer at a time the longer they last,
  // and so the slower the machine is.
  TAKEN = 40,
  // An event wakes the thread that handles it.
  WAKING = 25,
  // Threads sleep and wake each other, and the kernel decides whether a thread sleeps at all: the
  // row is shown, not compared.
  SHOWN = 0,
};

typedef struct row {
  const char *name;
  // Runs `count` operations and returns when all have ended.
  void (*body)(size_t count);
  int tolerance;
} row;

// Both end with a row without a name. In Queues.c and Objects.c.
extern const row queue_rows[], object_rows[];

static size_t ran;
static inline void add_one(void *context) { ++*(size_t *)context; }
static inline void add_one_and_index(void *context, size_t index) { *(size_t *)context += index; }
static inline void nothing(void *context) { (void)context; }

static inline dispatch_queue_t serial(void) { return dispatch_queue_create("serial", NULL); }
static inline dispatch_queue_t concurrent(void) {
  return dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
}

typedef int ends[2];
// Made by main().
extern ends finished, gate;

static inline void put(ends pipe) {
  if (write(pipe[1], "", 1) != 1) abort();
}

static inline void get(ends pipe) {
  char byte;
  if (read(pipe[0], &byte, 1) != 1) abort();
}

static inline void report_end(void *context) {
  (void)context;
  put(finished);
}

static inline void await_end(void) { get(finished); }

static inline void hold(void *context) {
  (void)context;
  put(finished);
  get(gate);
}

// The queue's worker waits until drain().
static inline dispatch_queue_t held(dispatch_queue_t queue) {
  dispatch_barrier_async_f(queue, NULL, hold);
  await_end();
  return queue;
}

static inline void drain(dispatch_queue_t queue) {
  dispatch_barrier_async_f(queue, NULL, report_end);
  put(gate);
  await_end();
  dispatch_release(queue);
}
