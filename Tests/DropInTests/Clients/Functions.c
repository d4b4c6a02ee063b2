// The function variants of the C interface, for any compiler, and blocks where supported.
#include <dispatch/dispatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __BLOCKS__
#include <Block.h>
#endif

static void increment(void *context) { ++*(int *)context; }
static void incrementAtomically(void *context) { __sync_fetch_and_add((int *)context, 1); }
static void add(void *context, size_t index) { __sync_fetch_and_add((int *)context, (int)index); }
static void signalSemaphore(void *context) { dispatch_semaphore_signal(context); }
static void nothing(void *context) { (void)context; }

typedef struct clock_state {
  dispatch_source_t timer;
  dispatch_semaphore_t done;
  int fires;
} clock_state;
static void fire(void *context) {
  clock_state *state = context;
  if (++state->fires == 3) dispatch_source_cancel(state->timer);
}
static void stopped(void *context) { dispatch_semaphore_signal(((clock_state *)context)->done); }

static int key;
static int specific;
static void lookUp(void *context) {
  *(int *)context = dispatch_get_specific(&key) == &specific;
}
static int finalizers;
static dispatch_semaphore_t finalized;
static void finalize(void *context) {
  finalizers += *(int *)context == 7;
  dispatch_semaphore_signal(finalized);
}

static void checkQueues(dispatch_queue_t serial, dispatch_queue_t concurrent) {
  int n = 0;
  for (int i = 0; i < 1000; i++) dispatch_async_f(serial, &n, increment);
  dispatch_sync_f(serial, NULL, nothing);
  printf("async=%d\n", n);
  dispatch_group_t group = dispatch_group_create();
  int members = 0;
  for (int i = 0; i < 100; i++) {
    dispatch_group_async_f(group, concurrent, &members, incrementAtomically);
  }
  long result = (long)dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  printf("group=%ld %d\n", result, members);
  dispatch_release(group);
  int sum = 0;
  dispatch_apply_f(101, concurrent, &sum, add);
  printf("apply=%d\n", sum);
  static dispatch_once_t predicate;
  int times = 0;
  for (int i = 0; i < 3; i++) dispatch_once_f(&predicate, &times, increment);
  printf("once=%d\n", times);
}

static void checkTime(dispatch_queue_t serial) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  dispatch_time_t soon = dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC);
  printf("timeout=%d\n", dispatch_semaphore_wait(semaphore, soon) != 0);
  dispatch_after_f(dispatch_walltime(NULL, NSEC_PER_MSEC), serial, semaphore, signalSemaphore);
  printf("after=%ld\n", (long)dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER));
  clock_state state = { .done = semaphore };
  state.timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, serial);
  dispatch_set_context(state.timer, &state);
  dispatch_source_set_event_handler_f(state.timer, fire);
  dispatch_source_set_cancel_handler_f(state.timer, stopped);
  dispatch_source_set_timer(state.timer, DISPATCH_TIME_NOW, NSEC_PER_MSEC, 0);
  dispatch_resume(state.timer);
  dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
  printf("timer=%d\n", state.fires);
  dispatch_release(state.timer);
  dispatch_release(semaphore);
}

static void checkObjects(dispatch_queue_t serial) {
  dispatch_queue_set_specific(serial, &key, &specific, NULL);
  int isFound = 0;
  dispatch_sync_f(serial, &isFound, lookUp);
  printf("specific=%d\n", isFound);
  static int context = 7;
  dispatch_queue_t mortal = dispatch_queue_create("mortal", NULL);
  dispatch_set_context(mortal, &context);
  printf("context=%d\n", *(int *)dispatch_get_context(mortal));
  printf("null=%d %d\n", dispatch_semaphore_create(-1) == NULL,
    dispatch_get_global_queue(0, 8) == NULL);
  finalized = dispatch_semaphore_create(0);
  dispatch_set_finalizer_f(mortal, finalize);
  dispatch_release(mortal);
  dispatch_semaphore_wait(finalized, DISPATCH_TIME_FOREVER);
  printf("finalizer=%d\n", finalizers);
}

#ifdef __BLOCKS__
static void checkBlocks(dispatch_queue_t serial) {
  __block int n = 0;
  for (int i = 0; i < 500; i++) dispatch_async(serial, ^{ n++; });
  dispatch_sync(serial, ^{ printf("block async=%d\n", n); });
  __block int ran = 0;
  dispatch_block_t work = dispatch_block_create(0, ^{ ran++; });
  dispatch_block_t never = dispatch_block_create(0, ^{ ran++; });
  dispatch_block_cancel(never);
  dispatch_async(serial, work);
  dispatch_async(serial, never);
  dispatch_block_wait(work, DISPATCH_TIME_FOREVER);
  dispatch_block_wait(never, DISPATCH_TIME_FOREVER);
  printf("work block=%d cancelled=%d\n", ran, dispatch_block_testcancel(never) != 0);
  Block_release(work);
  Block_release(never);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_group_t group = dispatch_group_create();
  __block int notified = 0;
  dispatch_group_async(group, serial, ^{ });
  dispatch_group_notify(group, serial, ^{ notified++; dispatch_semaphore_signal(done); });
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  printf("notify=%d\n", notified);
  dispatch_release(group);
  dispatch_data_t half = dispatch_data_create("hello", 5, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  char *copy = malloc(5);
  dispatch_data_t other = dispatch_data_create(copy, 5, NULL, DISPATCH_DATA_DESTRUCTOR_FREE);
  dispatch_data_t whole = dispatch_data_create_concat(half, other);
  __block int regions = 0;
  dispatch_data_apply(whole, ^bool(dispatch_data_t r, size_t o, const void *b, size_t s) {
    (void)r, (void)o, (void)b, (void)s;
    regions++;
    return true;
  });
  printf("data=%zu %d\n", dispatch_data_get_size(whole), regions);
  int ends[2];
  if (pipe(ends) != 0) abort();
  dispatch_write(ends[1], half, serial, ^(dispatch_data_t rest, int error) {
    (void)rest, (void)error;
  });
  dispatch_read(ends[0], 5, serial, ^(dispatch_data_t data, int error) {
    const void *bytes;
    size_t size;
    dispatch_data_t flat = dispatch_data_create_map(data, &bytes, &size);
    printf("read=%.*s\n", (int)size, error == 0 ? (const char *)bytes : "");
    dispatch_release(flat);
    dispatch_semaphore_signal(done);
  });
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  dispatch_release(half);
  dispatch_release(other);
  dispatch_release(whole);
  dispatch_release(done);
}
#endif

static void end(void *context) { exit(*(int *)context); }

int main(void) {
  dispatch_queue_t serial = dispatch_queue_create("serial", NULL);
  dispatch_queue_t concurrent = dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
  checkQueues(serial, concurrent);
  checkTime(serial);
  checkObjects(serial);
#ifdef __BLOCKS__
  checkBlocks(serial);
#endif
  dispatch_release(serial);
  dispatch_release(concurrent);
  static int status = 0;
  dispatch_async_f(dispatch_get_main_queue(), &status, end);
  dispatch_main();
}
