// Is slow in the way that its argument names, prints "done", and ends with its standard input.
#include <dispatch/dispatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static dispatch_queue_t queue, other;
static dispatch_semaphore_t begun, entered, slots;
static dispatch_group_t group;
// Only items and handlers of the queue 'rows' use it.
static bool is_rebuilt;

static void spin(long milliseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
           milliseconds);
}

static void nothing(void *context) { (void)context; }
static void store_row(void *context) { (void)context; }
static void rebuild_index(void *context) {
  (void)context;
  spin(500);
  is_rebuilt = true;
}
static void write_row(void *context) {
  (void)context;
  spin(2);
}
// The classes of sys/qos.h, which the toolchain does not have.
enum { BACKGROUND = 0x09, USER_INITIATED = 0x19 };
static dispatch_queue_t of_class(const char *label, unsigned class) {
  return dispatch_queue_create(
      label, dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_SERIAL, class, 0));
}
static void rebuild_after_submission(void *context) {
  (void)context;
  dispatch_semaphore_signal(begun);
  dispatch_semaphore_wait(entered, DISPATCH_TIME_FOREVER);
  spin(500);
}
static void submit_rebuild(void *context) {
  (void)context;
  dispatch_async_f(queue, NULL, rebuild_after_submission);
}
static void read_row(void *context) {
  (void)context;
  dispatch_semaphore_signal(entered);
  dispatch_sync_f(queue, NULL, nothing);
}
static void beat(void *context) {
  (void)context;
  if (is_rebuilt) dispatch_semaphore_signal(begun);
}
static void fetch_page(void *context) {
  (void)context;
  dispatch_semaphore_signal(begun);
  dispatch_semaphore_wait(slots, DISPATCH_TIME_FOREVER);
}
static void statement(void *context) {
  (void)context;
  dispatch_semaphore_signal(begun);
  dispatch_semaphore_wait(entered, DISPATCH_TIME_FOREVER);
  spin(20);
}
static void transfer(void *to) {
  dispatch_semaphore_signal(entered);
  dispatch_sync_f(to, NULL, nothing);
}

static void transfer_between(dispatch_queue_t from, dispatch_queue_t to) {
  dispatch_group_async_f(group, to, NULL, statement);
  dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
  dispatch_group_async_f(group, from, to, transfer);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
}

int main(int count, char **arguments) {
  const char *scene = count > 1 ? arguments[1] : "";
  queue = dispatch_queue_create("rows", NULL);
  other = dispatch_queue_create("index", NULL);
  begun = dispatch_semaphore_create(0);
  entered = dispatch_semaphore_create(0);
  slots = dispatch_semaphore_create(0);
  group = dispatch_group_create();
  if (strcmp(scene, "long-item") == 0) {
    // All items are submitted before the first one runs.
    dispatch_suspend(queue);
    for (int row = 0; row < 20; row++) dispatch_async_f(queue, NULL, store_row);
    dispatch_async_f(queue, NULL, rebuild_index);
    for (int row = 0; row < 20; row++) dispatch_async_f(queue, NULL, store_row);
    dispatch_resume(queue);
    dispatch_sync_f(queue, NULL, nothing);
  } else if (strcmp(scene, "late-timer") == 0) {
    dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
    dispatch_source_set_timer(timer, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_MSEC),
                              20 * NSEC_PER_MSEC, 0);
    dispatch_source_set_event_handler_f(timer, beat);
    dispatch_resume(timer);
    dispatch_async_f(queue, NULL, rebuild_index);
    // The handler signals when it runs after the long item.
    dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
    dispatch_source_cancel(timer);
  } else if (strcmp(scene, "explosion") == 0) {
    dispatch_queue_t pages = dispatch_queue_create("pages", DISPATCH_QUEUE_CONCURRENT);
    for (int page = 0; page < 60; page++) dispatch_group_async_f(group, pages, NULL, fetch_page);
    // All pages have a thread before the first one continues. Without 60 threads the scene still
    // ends.
    dispatch_time_t limit = dispatch_time(DISPATCH_TIME_NOW, 60 * NSEC_PER_SEC);
    for (int page = 0; page < 60; page++) dispatch_semaphore_wait(begun, limit);
    for (int page = 0; page < 60; page++) dispatch_semaphore_signal(slots);
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  } else if (strcmp(scene, "lock-order") == 0) {
    for (int round = 0; round < 5; round++) {
      transfer_between(queue, other);
      transfer_between(other, queue);
    }
  } else if (strcmp(scene, "hot-queue") == 0) {
    for (int row = 0; row < 300; row++) dispatch_group_async_f(group, queue, NULL, write_row);
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  } else if (strcmp(scene, "inversion") == 0) {
    dispatch_async_f(of_class("low", BACKGROUND), NULL, submit_rebuild);
    dispatch_semaphore_wait(begun, DISPATCH_TIME_FOREVER);
    dispatch_group_async_f(group, of_class("high", USER_INITIATED), NULL, read_row);
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  } else if (strcmp(scene, "healthy") == 0) {
    for (int row = 0; row < 2000; row++) dispatch_group_async_f(group, queue, NULL, store_row);
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  } else {
    return 64;
  }
  puts("done");
  fflush(stdout);
  getchar();
  return 0;
}
