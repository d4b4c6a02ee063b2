// The main queue: its thread, dispatch_main(), and the functions for run loops.
#include "../Check.h"
#include "../Private.h"

#include <poll.h>
#include <sys/syscall.h>

static pid_t this_thread(void) { return (pid_t)syscall(SYS_gettid); }

static void end_here(void *context) {
  (void)context;
  dispatch_assert_queue(dispatch_get_main_queue());
  _exit(0);
}

CASE(dispatch_main_runs_the_main_queue) {
  dispatch_async_f(dispatch_get_main_queue(), NULL, end_here);
  dispatch_main();
}

static void end_on_main_thread(void *context) {
  (void)context;
  if (this_thread() == getpid()) _exit(0);
  fail(__FILE__, __LINE__, "an item of the main queue runs on another thread");
}

BEYOND(dispatch_main_stays_on_the_main_thread, "the peer moves the items to workers") {
  dispatch_async_f(dispatch_get_main_queue(), NULL, end_on_main_thread);
  dispatch_main();
}

static void sync_onto_main(void *context) {
  static counter ran;
  (void)context;
  dispatch_sync_f(dispatch_get_main_queue(), &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_async_f(dispatch_get_main_queue(), NULL, end_here);
}

CASE(sync_onto_the_main_queue_from_elsewhere) {
  dispatch_async_f(global_queue(), NULL, sync_onto_main);
  dispatch_main();
}

static void *call_dispatch_main(void *context) {
  (void)context;
  dispatch_main();
}

STOPS_BEYOND(dispatch_main_on_another_thread_stops, "main thread") {
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, call_dispatch_main, NULL));
  pthread_join(thread, NULL);
}

CASE(run_loop_is_woken_and_drains) {
  static counter ran;
  static latch submitted = LATCH(1);
  int port = _dispatch_get_main_queue_port_4CF();
  CHECK(port >= 0);
  CHECK_EQUAL(_dispatch_get_main_queue_handle_4CF(), port);
  dispatch_async_f(dispatch_get_main_queue(), &ran, count_up);
  dispatch_async_f(dispatch_get_main_queue(), &submitted, open_latch);
  while (!latch_is_open(&submitted)) {
    struct pollfd one = {.fd = port, .events = POLLIN};
    CHECK_EQUAL(poll(&one, 1, 30000), 1);
    uint64_t wakes;
    CHECK_EQUAL(read(port, &wakes, sizeof wakes), sizeof wakes);
    _dispatch_main_queue_callback_4CF(NULL);
  }
  CHECK_EQUAL(ran.value, 1);
}

static void *submit_later(void *context) {
  dispatch_async_f(dispatch_get_main_queue(), context, open_latch);
  return NULL;
}

CASE(run_loop_is_woken_from_another_thread) {
  int port = _dispatch_get_main_queue_port_4CF();
  for (int round = 0; round < 100; round++) {
    static latch ran;
    ran = (latch)LATCH(1);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, submit_later, &ran));
    while (!latch_is_open(&ran)) {
      struct pollfd one = {.fd = port, .events = POLLIN};
      CHECK_EQUAL(poll(&one, 1, 30000), 1);
      uint64_t wakes;
      CHECK_EQUAL(read(port, &wakes, sizeof wakes), sizeof wakes);
      _dispatch_main_queue_callback_4CF(NULL);
    }
    CHECK(!pthread_join(thread, NULL));
  }
}

CASE(initialisation_may_be_repeated) {
  static counter ran;
  dispatch_queue_t queue = serial_queue();
  libdispatch_init();
  libdispatch_init();
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}
