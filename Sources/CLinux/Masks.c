// The signal masks of the engine's threads.
//
// The kernel delivers a signal of the process to any thread that does not block it. A program that
// blocks SIGTERM and receives it by sigwait(3) or signalfd(2) cannot know the engine's threads,
// which may be older than that block: the kernel would choose one of them, and the default action
// would end the process. So these threads block all signals that other processes and timers send,
// from their first instruction on. A handler of the program never runs on them for such a signal,
// and system calls of items are not interrupted.
//
// They do not block, unless the program does, what the kernel raises for an action of the thread
// itself: faults, a write to a broken pipe or beyond a limit, the use of the terminal from the
// background. The action must take effect there. Nor SIGPROF: profilers and the backtracer of the
// Swift runtime send it to each thread in turn, and wait until its handler has run.
//
// A child process inherits the mask of the thread that starts it: Children.c gives it the program's
// instead. It recognises the engine's mask by itself. So the rule holds on each thread that has
// inherited it, such as one that an item makes, and after an item has changed and restored it. A
// signal that an item blocks besides is blocked in its children too, and an item that blocks all
// signals, or opens one, has chosen the mask of its children.
#define _GNU_SOURCE
#include "Masks.h"
#include "GrandCentralSignals.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BIT(number) ((uint64_t)1 << ((number) - 1))

// Signals that no thread raises by what it does. The kernel does not let SIGKILL and SIGSTOP be
// blocked, and the C library keeps 32 and 33 for itself.
static const uint64_t from_outside =
    ~(BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV)
      | BIT(SIGSYS) | BIT(SIGPIPE) | BIT(SIGXFSZ) | BIT(SIGTTIN) | BIT(SIGTTOU) | BIT(SIGPROF)
      | BIT(SIGKILL) | BIT(SIGSTOP) | BIT(32) | BIT(33));

// The C library blocks these two only while it makes a thread or a process, with all others.
static const uint64_t c_library = BIT(32) | BIT(33);

// Signals that a program blocks together with those from outside, if it blocks many: only the
// engine leaves these open beside those.
static const uint64_t telling =
    BIT(SIGPIPE) | BIT(SIGXFSZ) | BIT(SIGTTIN) | BIT(SIGTTOU) | BIT(SIGPROF);

// The program's mask; 0: unknown. SIGKILL, which no mask contains, marks a known one.
static _Atomic uint64_t program_mask;

static atomic_bool has_started_threads;

// sigset_t has room for 1024 signals, of which the kernel defines the first 64.
static uint64_t from_set(const sigset_t *set) {
  uint64_t mask;
  memcpy(&mask, set, sizeof mask);
  return mask;
}

static sigset_t to_set(uint64_t mask) {
  sigset_t set;
  sigemptyset(&set);
  memcpy(&set, &mask, sizeof mask);
  return set;
}

uint64_t gc_mask_of_caller(void) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  return from_set(&now);
}

// What the engine's threads block.
static uint64_t engine_mask(void) {
  return atomic_load_explicit(&program_mask, memory_order_relaxed) | from_outside;
}

void gc_mask_leave_open(uint64_t numbers) {
  sigset_t set = to_set(engine_mask() & ~numbers);
  pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void store_program_mask(uint64_t blocked) {
  // relaxed: the word alone matters, and an older value is that of a moment ago.
  atomic_store_explicit(&program_mask, blocked | BIT(SIGKILL), memory_order_relaxed);
}

void gc_set_program_mask(uint64_t blocked) {
  // Read while the main thread makes a thread, or has the engine's mask for that.
  if ((blocked & c_library) == c_library || (blocked | BIT(SIGKILL)) == engine_mask()) return;
  store_program_mask(blocked);
}

// NULL: the C library lacks it, as glibc does before 2.32, or is linked statically.
extern int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *mask)
    __attribute__((weak));

typedef struct start {
  void *(*body)(void *);
  void *argument;
} start;

static void *begin(void *handed) {
  start own = *(start *)handed;
  free(handed);
  gc_mask_leave_open(0);
  return own.body(own.argument);
}

// Makes a thread that inherits a mask which blocks enough, and then sets its own. The maker opens
// nothing: a signal that it blocks may be pending, and would then take effect.
static int spawn_inheriting(
    const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  start *handed = malloc(sizeof *handed);
  if (!handed) return EAGAIN;
  *handed = (start){body, argument};
  sigset_t before, more = to_set(engine_mask());
  pthread_sigmask(SIG_BLOCK, &more, &before);
  pthread_t thread;
  int error = pthread_create(&thread, attributes, begin, handed);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) free(handed);
  return error;
}

static int spawn_with_mask(pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  sigset_t mask = to_set(engine_mask());
  if (pthread_attr_setsigmask_np(attributes, &mask) != 0) return EAGAIN;
  pthread_t thread;
  return pthread_create(&thread, attributes, body, argument);
}

int gc_thread_spawn(void *(*body)(void *), void *argument, size_t stack_bytes) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes) pthread_attr_setstacksize(&attributes, stack_bytes);
  // Nothing could be read: this is the first thread, and its maker is one of the program.
  if (atomic_load_explicit(&program_mask, memory_order_relaxed) == 0)
    store_program_mask(gc_mask_of_caller());
  error = pthread_attr_setsigmask_np ? spawn_with_mask(&attributes, body, argument)
                                     : spawn_inheriting(&attributes, body, argument);
  pthread_attr_destroy(&attributes);
  // relaxed: the flag alone matters.
  if (!error) atomic_store_explicit(&has_started_threads, true, memory_order_relaxed);
  return error;
}

bool gc_has_started_threads(void) {
  return atomic_load_explicit(&has_started_threads, memory_order_relaxed);
}

bool gc_mask_for_children(sigset_t *mask) {
  uint64_t program = atomic_load_explicit(&program_mask, memory_order_relaxed);
  // The engine has started no thread.
  if (program == 0) return false;
  uint64_t now = gc_mask_of_caller();
  uint64_t left_open = telling & ~program;
  if ((now & from_outside) != from_outside || (left_open && (now & left_open) == left_open))
    return false;
  *mask = to_set((now & ~from_outside) | (program & from_outside));
  return true;
}

void gc_threads_leave_to_parent(void) {
  atomic_store_explicit(&has_started_threads, false, memory_order_relaxed);
}
