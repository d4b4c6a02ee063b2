// The main thread ends. What waits in the main queue then, and what comes later, runs on workers,
// one item at a time.
#include <dispatch/dispatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_t main_thread;
static int key;
static int early, count, fires;

static void add(void *context) { ++*(int *)context; }

static void look_up(void *found) { *(int *)found = dispatch_get_specific(&key) == &key; }

static void submit(void *group) {
  for (int i = 0; i < 1000; i++) {
    dispatch_group_async_f(group, dispatch_get_main_queue(), &count, add);
  }
}

static void fire(void *timer) {
  if (++fires < 3) return;
  printf("timer=%d\n", fires);
  dispatch_source_cancel(timer);
}

static void finish(void *context) {
  (void)context;
  exit(0);
}

static void start_timer(void *context) {
  (void)context;
  printf("async=%d\n", count);
  dispatch_source_t timer =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, dispatch_get_main_queue());
  dispatch_set_context(timer, timer);
  dispatch_source_set_event_handler_f(timer, fire);
  dispatch_source_set_cancel_handler_f(timer, finish);
  dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, 1000000, 0);
  dispatch_activate(timer);
}

static void *use_queues(void *context) {
  if (pthread_join(main_thread, NULL) != 0) abort();
  int found = 0;
  dispatch_sync_f(dispatch_get_main_queue(), &found, look_up);
  printf("early=%d specific=%d\n", early, found);
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < 4; i++) {
    dispatch_group_async_f(group, dispatch_get_global_queue(0, 0), group, submit);
  }
  dispatch_group_notify_f(group, dispatch_get_main_queue(), NULL, start_timer);
  return context;
}

int main(void) {
  main_thread = pthread_self();
  dispatch_queue_set_specific(dispatch_get_main_queue(), &key, &key, NULL);
  dispatch_async_f(dispatch_get_main_queue(), &early, add);
  pthread_t other;
  if (pthread_create(&other, NULL, use_queues, NULL) != 0) abort();
  pthread_exit(NULL);
}
