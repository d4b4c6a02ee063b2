// The gate of a fork, and what a forked child does before it runs Swift code. In C, because a child
// that gives the engine up must not run Swift code. The protocol is in Primitives/ForkGate.swift.
#define _GNU_SOURCE
#include "GrandCentralFork.h"
#include "GrandCentralSynchronization.h"
#include "GrandCentralThread.h"
#include "Masks.h"

#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uintptr_t gc_fork_closer;
uint32_t gc_fork_turn;

bool gc_fork_needs_order = true;

static long barrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// Orders the two steps of gc_lock_enter() in all threads: membarrier(2), from Linux 4.14 on, is a
// barrier on every CPU that runs a thread of the process, and spares them one at each lock. Without
// it each thread has a barrier of its own.
static void order_all_threads(void) {
  if (!gc_fork_needs_order) {
    if (barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
    // seccomp(2) forbids it since. From now on each thread has its own barrier. The store of a
    // thread that has just passed without one is in its CPU's store buffer. A CPU that runs empties
    // its buffer within microseconds, and a switch to another thread empties it, so this wait needs
    // no interrupt. Without it, a lock could be held at the fork.
    __atomic_store_n(&gc_fork_needs_order, true, __ATOMIC_SEQ_CST);
    struct timespec left = {.tv_nsec = 20000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool gc_fork_close(gc_thread *self) {
  uintptr_t none = 0;
  if (!__atomic_compare_exchange_n(
          &gc_fork_closer, &none, (uintptr_t)self, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return false;
  order_all_threads();
  return true;
}

void gc_fork_open(void) {
  __atomic_store_n(&gc_fork_closer, 0, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&gc_fork_turn, 1, __ATOMIC_SEQ_CST);
  gc_futex_wake(&gc_fork_turn, INT_MAX);
}

void gc_close_inherited(int descriptor) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return;
  if ((status.st_mode & S_IFMT) == 0) close(descriptor);
}

static uint32_t *held_lock;
static bool is_given_up;

void gc_fork_hold(uint32_t *lock) { held_lock = lock; }

void gc_leave_to_parent(void) {
  gc_uring_leave_to_parent();
  gc_signal_thread_leave_to_parent();
  gc_threads_leave_to_parent();
}

void gc_fork_give_up(gc_thread *self) {
  // A second call, or a call without a fork.
  if (gc_fork_seen_closer() != (uintptr_t)self) return;
  is_given_up = true;
  gc_leave_to_parent();
  __atomic_store_n(held_lock, 0, __ATOMIC_RELEASE);
  gc_fork_open();
}

bool gc_fork_is_given_up(void) { return is_given_up; }

uintptr_t gc_fork_seen_closer(void) { return __atomic_load_n(&gc_fork_closer, __ATOMIC_SEQ_CST); }
uint32_t gc_fork_seen_turn(void) { return __atomic_load_n(&gc_fork_turn, __ATOMIC_SEQ_CST); }

void gc_fork_wait(uint32_t turn) { gc_futex_wait(&gc_fork_turn, turn, NULL, false); }

// Registers the process for membarrier(2). A child inherits the registration.
static void prepare_order(void) {
  bool is_to_be_had = barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  __atomic_store_n(&gc_fork_needs_order, !is_to_be_had, __ATOMIC_SEQ_CST);
}

static void take_mask_for_children(void) {
  sigset_t mask;
  if (gc_mask_for_children(&mask)) pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

int gc_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  prepare_order();
  int error = pthread_atfork(prepare, parent, child);
  // Handlers of children run in the order of registration: the engine is whole before a signal can
  // come.
  return error ? error : pthread_atfork(NULL, NULL, take_mask_for_children);
}
