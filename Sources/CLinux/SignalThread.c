// The thread "gc-signals", which leaves open the signals that sources count.
//
// All other threads of the engine block them (Masks.c), and a program may block them on all of its
// own threads, as servers do. Then no thread would receive them, and the source would count
// nothing. The same thread stands in for the main thread after that has called pthread_exit(3):
// otherwise no signal could end a program whose work lives in queues.
//
// The kernel prefers the main thread, and then any thread that leaves the signal open or waits for
// it in sigwait(3). So each delivery reaches this thread or one of the program, not both.
//
// It is made with the first source, or at the end of the main thread, and lasts: one that ended
// with each last source would be made anew as often. Without sources it blocks everything, and
// sleeps.
//   counted   signals of sources
//   mains     signals that the main thread left open at its end
//   changes   number of changes of the two; the thread sleeps on it
//   applied   the value of `changes` that the thread's mask reflects; closers sleep on it
// Invariant: the action of a signal is restored only after the thread blocks it. Otherwise the
// default action could end a program that has blocked the signal on all of its threads.
#define _GNU_SOURCE
#include "GrandCentralSignals.h"
#include "GrandCentralSynchronization.h"
#include "GrandCentralThread.h"
#include "Masks.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

static _Atomic uint64_t counted;
static _Atomic uint64_t mains;
static uint32_t changes;
static uint32_t applied;
static atomic_bool is_there;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_signal_thread __attribute__((tls_model("initial-exec")));

static uint64_t wanted(void) {
  // sequentially consistent: see gc_signal_await().
  return atomic_load(&counted) | atomic_load(&mains);
}

static void *run(void *argument) {
  is_signal_thread = true;
  gc_thread_set_name("gc-signals");
  for (;;) {
    // acquire: the signals are read after the number of changes, so they are as new or newer.
    uint32_t seen = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
    gc_mask_leave_open(wanted());
    // release: a closer that sees the number sees that the mask has changed.
    __atomic_store_n(&applied, seen, __ATOMIC_RELEASE);
    gc_futex_wake(&applied, INT_MAX);
    gc_futex_wait(&changes, seen, NULL, false);
  }
  return argument;
}

static uint32_t note_change(void) {
  uint32_t change = __atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
  gc_futex_wake(&changes, INT_MAX);
  return change;
}

int gc_signal_thread_start(void) {
  // A second caller waits for what the first one gets: its own answer may be a refusal.
  pthread_mutex_lock(&start_lock);
  int error = 0;
  // sequentially consistent: see gc_signal_await().
  if (!atomic_exchange(&is_there, true)) {
    error = gc_thread_spawn(run, NULL, 0);
    if (error) atomic_store(&is_there, false);
  }
  pthread_mutex_unlock(&start_lock);
  return error;
}

bool gc_signal_thread_exists(void) { return atomic_load(&is_there); }

void gc_signal_open(int number) {
  atomic_fetch_or(&counted, (uint64_t)1 << (number - 1));
  note_change();
}

uint32_t gc_signal_close(int number) {
  // sequentially consistent: see gc_signal_await().
  atomic_fetch_and(&counted, ~((uint64_t)1 << (number - 1)));
  return note_change();
}

void gc_signal_await(uint32_t change) {
  // sequentially consistent, as the clearing of the bit before and, on the other side, the flag and
  // the thread's first look at the bits: either this sees the flag, or the thread sees the bit
  // cleared.
  if (!atomic_load(&is_there)) return;
  // A handler of the program may keep the thread for any time. Then this gives up the invariant
  // instead of the caller.
  enum { PATIENCE_SECONDS = 1 };
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += PATIENCE_SECONDS;
  for (;;) {
    uint32_t now = __atomic_load_n(&applied, __ATOMIC_ACQUIRE);
    if ((int32_t)(now - change) >= 0) return;
    if (gc_futex_wait(&applied, now, &deadline, false) == ETIMEDOUT) return;
  }
}

void gc_signal_stand_in(void) {
  // A program ends with its last thread. With threads of the engine it does not in any case.
  if (!gc_has_started_threads()) return;
  atomic_store(&mains, ~gc_mask_of_caller());
  note_change();
  // If there is no thread for it, the signals stay pending.
  gc_signal_thread_start();
}

void gc_signal_thread_leave_to_parent(void) {
  // A thread of the parent may have held it.
  start_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  atomic_store(&is_there, false);
  atomic_store(&mains, 0);
}

void gc_signal_keep_closed(int number, void *context) {
  if (!is_signal_thread || wanted() >> (number - 1) & 1) return;
  sigaddset(&((ucontext_t *)context)->uc_sigmask, number);
}
