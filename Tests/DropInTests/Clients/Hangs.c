// Hangs in the way that its argument names, and prints "ready" before.
#include <dispatch/dispatch.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static dispatch_queue_t first, second;
static dispatch_group_t group;
static dispatch_semaphore_t begun, never;

static void nothing(void *context) { (void)context; }
static void enter_first(void *context) {
  (void)context;
  dispatch_sync_f(first, NULL, nothing);
}
static void wait_for_group(void *context) {
  (void)context;
  dispatch_semaphore_signal(begun);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
}
static void wait_for_semaphore(void *context) {
  (void)context;
  dispatch_semaphore_wait(never, DISPATCH_TIME_FOREVER);
}
static void sleep_in_kernel(void *context) {
  (void)context;
  dispatch_semaphore_signal(begun);
  for (;;) pause();
}

#ifdef __BLOCKS__
// Two queues: an item of each waits for the other, by dispatch_sync() and for a work item. The
// library stops a program at once whose threads wait for each other by dispatch_sync() alone.
static void deadlock(void) {
  dispatch_queue_t third = dispatch_queue_create("third", NULL);
  dispatch_semaphore_t asked = dispatch_semaphore_create(0);
  dispatch_block_t item = dispatch_block_create(0, ^{
    dispatch_semaphore_signal(begun);
    dispatch_semaphore_wait(asked, DISPATCH_TIME_FOREVER);
    dispatch_sync_f(first, NULL, nothing);
  });
  dispatch_async(third, item);
  dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
  dispatch_async(first, ^{
    dispatch_semaphore_signal(asked);
    dispatch_block_wait(item, DISPATCH_TIME_FOREVER);
  });
}
#else
static void deadlock(void) { _exit(64); }
#endif

// The function of dispatch_once waits for a queue, whose item waits for that function.
static dispatch_once_t once;
static void once_in_first(void *context) {
  dispatch_semaphore_signal(begun);
  dispatch_semaphore_wait(never, DISPATCH_TIME_FOREVER);
  dispatch_once_f(&once, context, nothing);
}
static void set_up(void *context) {
  dispatch_async_f(first, context, once_in_first);
  dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
  dispatch_semaphore_signal(never);
  dispatch_sync_f(first, context, nothing);
}
static void run_once(void *context) { dispatch_once_f(&once, context, set_up); }

// A thread that has never waited for anything runs the function of dispatch_once, and sleeps in it.
static void *sleep_in_once(void *context) {
  dispatch_once_f(&once, context, sleep_in_kernel);
  return NULL;
}
static void once_of_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleep_in_once, NULL) != 0) _exit(71);
  dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
  dispatch_async_f(second, NULL, run_once);
}

int main(int count, char **arguments) {
  const char *scene = count > 1 ? arguments[1] : "";
  first = dispatch_queue_create("first", NULL);
  second = dispatch_queue_create("second", DISPATCH_QUEUE_CONCURRENT);
  group = dispatch_group_create();
  begun = dispatch_semaphore_create(0);
  never = dispatch_semaphore_create(0);
  dispatch_queue_t global = dispatch_get_global_queue(0, 0);
  if (strcmp(scene, "deadlock") == 0) {
    deadlock();
  } else if (strcmp(scene, "group") == 0) {
    dispatch_group_enter(group);
    dispatch_async_f(first, NULL, wait_for_group);
    dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
    dispatch_async_f(global, NULL, enter_first);
  } else if (strcmp(scene, "kernel") == 0) {
    dispatch_async_f(first, NULL, sleep_in_kernel);
    dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
    dispatch_async_f(global, NULL, enter_first);
  } else if (strcmp(scene, "explosion") == 0) {
    for (int item = 0; item < 80; item++) dispatch_async_f(second, NULL, wait_for_semaphore);
  } else if (strcmp(scene, "resume") == 0) {
    dispatch_suspend(first);
    dispatch_async_f(first, NULL, nothing);
  } else if (strcmp(scene, "leave") == 0) {
    dispatch_group_enter(group);
    dispatch_async_f(second, NULL, wait_for_group);
  } else if (strcmp(scene, "once") == 0) {
    dispatch_async_f(second, NULL, run_once);
  } else if (strcmp(scene, "once-of-thread") == 0) {
    once_of_thread();
  } else if (strcmp(scene, "healthy") == 0) {
    for (int item = 0; item < 80; item++) dispatch_group_async_f(group, second, NULL, nothing);
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  } else {
    return 64;
  }
  if (write(1, "ready\n", 6) != 6) return 1;
  char byte;
  return read(0, &byte, 1) < 0;
}
