// The engine's only C: what Swift cannot say. Thread-locals with a one-instruction accessor, the
// futex call, the spin hint, and thread creation with an explicit signal mask. Each function is one
// system call or one instruction; policy (retry, fault, fallback) lives in Swift, in the rooms.
#ifndef GRANDCENTRAL_CLINUX_H
#define GRANDCENTRAL_CLINUX_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// What one thread knows of itself. Owner-only: no other thread reads or writes these fields, so
// they are plain. The memory is type-stable: a context outlives its thread and is handed to a later
// one, so its address may be kept as a thread's identity and read after the thread is gone.
typedef struct gc_thread {
  void *_Nullable frame;   // innermost queue frame: where this thread is, queue by queue
  void *_Nullable nodes;   // free work nodes, a list through their first word
  uint32_t node_count;
  uint32_t tid;            // the kernel's thread id
  void *_Nullable shared;  // the part that other threads may read: parker, wait record
  void *_Nullable worker;  // the pool's worker on this thread, or NULL
  uint32_t qos;            // packed QoS of the running item: what async() captures
  uint32_t spare;
  struct gc_thread *_Nullable next_free;
} gc_thread;

// One step of where a thread is: it runs an item of `queue`. Lives on that thread's stack.
typedef struct gc_frame {
  void *_Nullable previous;
  void *_Nullable queue;
} gc_frame;

// initial-exec: one load relative to the thread pointer, no call. The variable is a pointer, so it
// fits the loader's surplus when the library is opened late.
extern __thread gc_thread *_Nullable gc_thread_self __attribute__((tls_model("initial-exec")));

static inline gc_thread *_Nullable gc_thread_current(void) { return gc_thread_self; }
static inline void gc_thread_set_current(gc_thread *_Nullable thread) { gc_thread_self = thread; }

// Calls `destructor(value)` when the calling thread ends. Returns 0 or an errno.
int gc_thread_at_exit(void *_Nonnull value, void (*_Nonnull destructor)(void *_Nonnull));

// Starts a detached thread with `stack_bytes` of stack (0: default), which inherits the caller's
// signal mask until it sets its own. Returns 0 or an errno (EAGAIN: no memory or a limit on threads).
int gc_thread_spawn(
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument,
    size_t stack_bytes);

// Blocks exactly the signals whose bit (number - 1) is set, on the calling thread.
void gc_thread_set_signal_mask(uint64_t blocked);

uint32_t gc_thread_id(void);
uint32_t gc_process_id(void);
void gc_thread_set_name(const char *_Nonnull name);

// Sleeps while *word == expected. deadline: NULL for ever, else absolute on CLOCK_REALTIME when
// `realtime`, else on CLOCK_MONOTONIC. Returns 0 when woken, or an errno: EAGAIN (the word had
// changed), EINTR, ETIMEDOUT.
int gc_futex_wait(
    const void *_Nonnull word, uint32_t expected, const struct timespec *_Nullable deadline,
    bool realtime);
// Wakes up to `count` sleepers. Never fails in a way that matters: a word that is gone has none.
void gc_futex_wake(const void *_Nonnull word, int count);

// A close-on-exec, non-blocking eventfd(2), or -1 with errno set.
int gc_eventfd(void);

// What epoll(7) says of one descriptor, without the packing that its own record has on some machines.
typedef struct gc_readiness {
  uint64_t key;
  uint32_t events;
} gc_readiness;

enum { GC_READINESS_BATCH = 64 };

// A close-on-exec epoll(7) set, or -1 with errno set.
int gc_epoll_make(void);
// epoll_ctl(2): each returns 0 or an errno.
int gc_epoll_add(int set, int descriptor, uint32_t events, uint64_t key);
int gc_epoll_change(int set, int descriptor, uint32_t events, uint64_t key);
int gc_epoll_remove(int set, int descriptor);
// epoll_wait(2) for up to GC_READINESS_BATCH events; timeout -1: for ever. Returns their number, or -1
// with errno set.
int gc_epoll_wait(int set, gc_readiness *_Nonnull ready, int timeout_milliseconds);
// What poll(2) says of one descriptor now; 0: none of `events`; -1 with errno set.
int gc_poll_now(int descriptor, int events);

// A close-on-exec, non-blocking timerfd_create(2) on CLOCK_REALTIME or CLOCK_MONOTONIC; -1: errno.
int gc_timer_make(bool realtime);
// Lets it expire once, at an absolute time of its clock.
void gc_timer_set(int timer, uint64_t nanoseconds);

// A close-on-exec, non-blocking inotify(7) instance, or -1 with errno set.
int gc_inotify_make(void);
// inotify_add_watch(2): a watch's number, or an errno, negative. inotify_rm_watch(2): 0 or an errno.
int gc_inotify_watch(int instance, const char *_Nonnull path, uint32_t mask);
int gc_inotify_unwatch(int instance, int number);

// ioctl(2) FIONREAD and SIOCOUTQ, and fcntl(2) F_GETPIPE_SZ: a number, or -1 with errno set.
int gc_readable_bytes(int descriptor);
int gc_unsent_bytes(int descriptor);
int gc_pipe_bytes(int descriptor);
// Number of CPUs in the affinity mask of a thread, or -1.
int gc_affinity_count(uint32_t thread);
// CPU time of thread `tid` of this process in nanoseconds, or -1 when it is gone.
int64_t gc_thread_cpu_nanoseconds(uint32_t tid);

// Ends the process where it stands, so that the stack still shows who called.
__attribute__((noreturn)) static inline void gc_trap(void) { __builtin_trap(); }

static inline void gc_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#endif
