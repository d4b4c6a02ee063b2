// Semaphores.
#include "../Check.h"

CASE(semaphore_lets_its_value_pass) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(2);
  CHECK_EQUAL(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW), 0);
  CHECK_EQUAL(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER), 0);
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) != 0);
  CHECK_EQUAL(dispatch_semaphore_signal(semaphore), 0);
  CHECK_EQUAL(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW), 0);
  dispatch_semaphore_signal(semaphore);
  dispatch_semaphore_signal(semaphore);
  dispatch_release(semaphore);
}

CASE(semaphore_of_a_negative_value_is_null) {
  CHECK(!dispatch_semaphore_create(-1));
  CHECK(!dispatch_semaphore_create(INTPTR_MIN));
}

CASE(semaphore_wait_gives_up_in_time) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  int64_t start = monotonic_now();
  CHECK(dispatch_semaphore_wait(semaphore, soon()) != 0);
  CHECK(monotonic_now() >= start + 20 * (int64_t)NSEC_PER_MSEC);
  CHECK(dispatch_semaphore_wait(semaphore, dispatch_walltime(NULL, 1000000)) != 0);
  // The wait that timed out took no permit.
  dispatch_semaphore_signal(semaphore);
  CHECK_EQUAL(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW), 0);
  dispatch_release(semaphore);
}

static dispatch_semaphore_t shared;
static latch woken;
static void *wait_for_it(void *context) {
  CHECK_EQUAL(dispatch_semaphore_wait(shared, deadline()), 0);
  latch_down(&woken);
  return context;
}

CASE(semaphore_signal_wakes_a_thread) {
  shared = dispatch_semaphore_create(0);
  woken = (latch)LATCH(1);
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, wait_for_it, NULL));
  dispatch_semaphore_signal(shared);
  latch_wait(&woken);
  CHECK(!pthread_join(thread, NULL));
  dispatch_release(shared);
}

CASE(semaphore_signal_tells_whether_it_woke_one) {
  shared = dispatch_semaphore_create(0);
  for (int round = 0;; round++) {
    woken = (latch)LATCH(1);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, wait_for_it, NULL));
    // Each round waits longer, until the thread sleeps before the signal arrives.
    for (volatile int n = 0; n < round * 10000; n++) { }
    intptr_t woke = dispatch_semaphore_signal(shared);
    latch_wait(&woken);
    CHECK(!pthread_join(thread, NULL));
    if (woke) break;
    CHECK(round < 10000);
  }
  CHECK_EQUAL(dispatch_semaphore_signal(shared), 0);
  dispatch_release(shared);
}

static _Atomic int inside;
static void *enter_and_leave(void *context) {
  for (int n = 0; n < 2000; n++) {
    CHECK_EQUAL(dispatch_semaphore_wait(shared, deadline()), 0);
    int now = atomic_fetch_add(&inside, 1) + 1;
    CHECK(now <= 3);
    atomic_fetch_sub(&inside, 1);
    dispatch_semaphore_signal(shared);
  }
  return context;
}

CASE(semaphore_bounds_how_many_are_inside) {
  shared = dispatch_semaphore_create(3);
  pthread_t threads[8];
  for (int n = 0; n < 8; n++) CHECK(!pthread_create(&threads[n], NULL, enter_and_leave, NULL));
  for (int n = 0; n < 8; n++) CHECK(!pthread_join(threads[n], NULL));
  for (int n = 0; n < 3; n++) CHECK_EQUAL(dispatch_semaphore_wait(shared, DISPATCH_TIME_NOW), 0);
  CHECK(dispatch_semaphore_wait(shared, DISPATCH_TIME_NOW) != 0);
}

STOPS(releasing_a_semaphore_in_use_stops, "in use") {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
  dispatch_release(semaphore);
}
