// Sleep and wake-up by futex(2), and what the thread sanitizer must know.
#define _GNU_SOURCE
#include "GrandCentralSynchronization.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

bool gc_is_watched_for_races(void) { return __tsan_acquire && __tsan_release; }

static int futex_wait(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  int operation = FUTEX_WAIT_BITSET_PRIVATE | (realtime ? FUTEX_CLOCK_REALTIME : 0);
  long result = syscall(
      SYS_futex, word, operation, expected, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

static bool is_before(const struct timespec *one, const struct timespec *other) {
  return one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec
                                      : one->tv_nsec < other->tv_nsec;
}

// The same in a program with the thread sanitizer, which calls a signal's handler late: when the
// thread next leaves a function that the sanitizer intercepts, or at once within a call that may
// block. A bare system call is neither, so a thread that sleeps in one would never run the handler.
// With a deadline, the kernel ends the sleep when a signal has come (EINTR, also with SA_RESTART).
// One that comes just before the call does not end it: that handler runs at the end of the turn.
static int futex_wait_watched(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  enum { TURN_NANOSECONDS = 200000000, SECOND_NANOSECONDS = 1000000000 };
  struct timespec turn;
  clock_gettime(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, &turn);
  turn.tv_nsec += TURN_NANOSECONDS;
  if (turn.tv_nsec >= SECOND_NANOSECONDS) {
    turn.tv_nsec -= SECOND_NANOSECONDS;
    turn.tv_sec++;
  }
  bool is_last = deadline && !is_before(&turn, deadline);
  int error = futex_wait(word, expected, is_last ? deadline : &turn, realtime);
  // An intercepted call: it does nothing, and handlers run at its end.
  struct timespec nothing = {0};
  nanosleep(&nothing, NULL);
  return error == ETIMEDOUT && !is_last ? EINTR : error;
}

int gc_futex_wait(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  return gc_is_watched_for_races() ? futex_wait_watched(word, expected, deadline, realtime)
                                   : futex_wait(word, expected, deadline, realtime);
}

void gc_futex_wake(const void *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void gc_order_release(void *address) {
  if (__tsan_release) __tsan_release(address);
}

void gc_order_acquire(void *address) {
  if (__tsan_acquire) __tsan_acquire(address);
}
