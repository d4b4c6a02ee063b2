// The engine's only C: what Swift cannot say. Thread-locals with a one-instruction accessor, the
// futex call, the spin hint, thread creation with an explicit signal mask, signal handlers. Most functions are one
// system call or one instruction; policy (retry, fault, fallback) lives in Swift, in the rooms.
#ifndef GRANDCENTRAL_CLINUX_H
#define GRANDCENTRAL_CLINUX_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>  // mode_t, which public declarations name: the module that they find it in
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
  uint32_t effect;         // the class whose effects are on this thread; 0: it is not the pool's (QoS/ThreadEffects)
  uint32_t adopted;        // the band that the thread itself put its standing at: see QoS/Standing
  uint32_t lent;           // not 0: others may have raised that since
  uint32_t lane_place;     // the place that it used last in the registry of lanes, or 0
  uint32_t lane_place_kept;  // whether no lane has that place, and it waits for the thread's next one
  uint64_t *_Nullable lane_word;  // where that place is
  bool is_main;            // whether it is the process's first thread, or the one that is left in a forked child
  uint32_t locks;          // how many locks of the engine it holds or waits for: see gc_lock_enter()
  uint32_t items;          // how many items of lanes it has begun: see gc_item_began()
  struct gc_thread *_Nullable next_free;
  struct gc_thread *_Nullable next_known;  // all contexts that ever were; written once
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

// The calling thread begins another item of a lane. The monitor of the pool reads the number to see whether the thread
// is still at the same item. Relaxed: a stale number delays that by one look.
static inline void gc_item_began(gc_thread *_Nonnull self) {
  __atomic_store_n(&self->items, self->items + 1, __ATOMIC_RELAXED);
}
static inline uint32_t gc_items_of(const gc_thread *_Nonnull thread) {
  return __atomic_load_n(&thread->items, __ATOMIC_RELAXED);
}

// The thread that is about to fork, as its context's address; 0: nobody. The protocol is in Primitives/ForkGate.swift.
extern uintptr_t gc_fork_closer;
// Counts the times that it was set to 0: what threads sleep on.
extern uint32_t gc_fork_turn;

// Whether threads have to order the two steps of gc_lock_enter() themselves.
extern bool gc_fork_needs_order;

// Before a thread takes a lock. False: not while another thread forks; then gc_lock_leave() at once. Whoever holds a lock
// already goes on, since the one that forks waits for it.
// Relaxed, and in this order for the compiler: gc_fork_close() makes every thread of the process order its steps.
static inline bool gc_lock_enter(gc_thread *_Nonnull self) {
  uint32_t held = self->locks;
  __atomic_store_n(&self->locks, held + 1, __ATOMIC_RELAXED);
  if (held) return true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&gc_fork_needs_order, __ATOMIC_RELAXED)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uintptr_t closer = __atomic_load_n(&gc_fork_closer, __ATOMIC_RELAXED);
  return closer == 0 || closer == (uintptr_t)self;
}
// After it has let go. Release: pairs with the acquire in gc_locks_of().
static inline void gc_lock_leave(gc_thread *_Nonnull self) {
  __atomic_store_n(&self->locks, self->locks - 1, __ATOMIC_RELEASE);
}
// How many locks any thread holds or waits for.
static inline uint32_t gc_locks_of(const gc_thread *_Nonnull thread) {
  return __atomic_load_n(&thread->locks, __ATOMIC_SEQ_CST);
}
// Keeps all other threads from taking locks: those of whom gc_locks_of() says 0 when this has returned. False: another
// thread does that already.
bool gc_fork_close(gc_thread *_Nonnull self);
// Lets them go on, and wakes who sleeps.
void gc_fork_open(void);
uintptr_t gc_fork_seen_closer(void);
uint32_t gc_fork_seen_turn(void);
// Sleeps while the turn is that one.
void gc_fork_wait(uint32_t turn);
// Has these called around each fork(2): pthread_atfork(3). Returns 0 or ENOMEM.
int gc_at_fork(
    void (*_Nonnull prepare)(void), void (*_Nonnull parent)(void), void (*_Nonnull child)(void));

// A thread-sanitized program brings these along, and so has to be told what this library orders where it is not sanitized
// itself: what a thread did before it released an address has happened for who acquires that later. In other programs
// they are nowhere, and a call is a comparison.
bool gc_is_watched_for_races(void);
void gc_order_release(void *_Nonnull address);
void gc_order_acquire(void *_Nonnull address);

// Copies.c. Which images of the process have a copy of the engine, by their paths; NULL: the program itself.
enum { GC_MOST_COPIES = 4 };
typedef struct gc_copies {
  int count;
  const char *_Nullable names[GC_MOST_COPIES];
} gc_copies;
// True: there is more than one, and no call has found that before, by any of them.
bool gc_copies_found(gc_copies *_Nonnull copies);

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
// Has the number `other` stand for what `descriptor` stands for, close-on-exec, and closes that. Both are open.
void gc_descriptor_move(int descriptor, int other);

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

// The Swift runtime's own: retains an object unless its deinit has begun, and returns it or NULL. What a
// weak reference does, without the side table that each object with one has.
void *_Nullable swift_tryRetain(void *_Nonnull object);
// Signals.c. Deliveries of a signal are counted by a handler, on whatever thread it runs, which then rings a
// descriptor by eventfd(2). One caller at a time for install and uninstall of one signal.
// Whether a program can have a handler for it: no for SIGKILL, SIGSTOP, those of the C library, and what is none.
bool gc_signal_can_be_caught(int number);
// Counts from now on, in the place of what the program had installed: a handler of its own is called too, as it was
// set up. Allocates nothing. Returns 0 or an errno.
int gc_signal_install(int number);
// Puts back what was there, unless the program has put something above; then that stays.
void gc_signal_uninstall(int number);
// The deliveries since it was last asked.
uint64_t gc_signal_take(int number);
// Rung after each delivery. For good: a handler may be about to ring it at any time.
void gc_signal_set_bell(int descriptor);

// Processes.c. A close-on-exec pidfd_open(2), readable when the process has exited; or -1 with errno set.
int gc_process_descriptor(int32_t process);
// Whether it has exited, as far as can be seen without a descriptor. Takes no status away.
bool gc_process_has_exited(int32_t process);

typedef enum { GC_PROCESS_FORKED, GC_PROCESS_EXECUTED } gc_process_change;
typedef struct gc_process_event {
  int32_t process;
  gc_process_change change;
} gc_process_event;
// A close-on-exec, non-blocking descriptor of what all processes of the machine do; or -1 with errno set: EPERM,
// EPROTONOSUPPORT or EOPNOTSUPP where this process is not to know.
int gc_process_events_open(void);
void gc_process_events_close(int connector);
// The next one. Returns 1; 0: there is none for now; -1 with errno set.
int gc_process_events_next(int connector, gc_process_event *_Nonnull next);

// Transfers.c. Each returns how many bytes, or an errno, negative. `offset` -1: from where the descriptor stands.
// A call that a signal interrupts is made again.
typedef struct gc_stretch {
  const void *_Nullable start;
  size_t bytes;
} gc_stretch;
enum { GC_STRETCHES = 64 };
int64_t gc_transfer_read(int descriptor, void *_Nonnull buffer, size_t bytes, int64_t offset);
// What of it is in memory: preadv2(2) with RWF_NOWAIT. -EAGAIN: it would have to wait for the disk.
int64_t gc_transfer_read_cached(
    int descriptor, void *_Nonnull buffer, size_t bytes, int64_t offset);
// Whether reads always go to the disk: O_DIRECT, which RWF_NOWAIT does not keep from waiting for it.
bool gc_reads_past_cache(int descriptor);
// Up to GC_STRETCHES of them. Raises no SIGPIPE: to a socket by MSG_NOSIGNAL, to all else, if it `may_raise`, by
// blocking the signal on this thread and taking back the one that came.
int64_t gc_transfer_write(
    int descriptor, const gc_stretch *_Nonnull stretches, int count, int64_t offset, bool is_socket,
    bool may_raise);
// O_NONBLOCK of an open file: 1 it was set before, 0 it was not, or an errno, negative.
int gc_set_nonblocking(int descriptor, bool on);
// Whether two descriptors share one open file, and so its flags: kcmp(2). 1, 0, or an errno, negative.
int gc_is_same_open_file(int one, int other);
// O_RDONLY, O_WRONLY or O_RDWR, or an errno, negative.
int gc_access_mode(int descriptor);
// open(2), made again when a signal interrupts it: a descriptor, or an errno, negative.
int gc_open_file(const char *_Nonnull path, int flags, uint32_t mode);

// Scheduling.c. What the kernel gives a thread; 0: the calling one. sched_setattr(2).
typedef struct gc_scheduling {
  uint32_t policy;
  int32_t nice;
  uint64_t slice_nanoseconds;  // how long it runs before another's turn; to set, 0: the kernel's own choice
  uint32_t least_utilization;  // of the largest CPU, in 1024ths; as if it used so much at least, and at most
  uint32_t most_utilization;
  bool resets_on_fork;
} gc_scheduling;
// Each returns 0 or an errno: EPERM, ESRCH, EINVAL; E2BIG or EOPNOTSUPP where the kernel does not know it.
int gc_scheduling_get(uint32_t thread, gc_scheduling *_Nonnull scheduling);
int gc_scheduling_set(uint32_t thread, const gc_scheduling *_Nonnull scheduling, bool with_clamps);
// The lowest nice value that this process may set without privilege: RLIMIT_NICE, getrlimit(2). 20: none.
int gc_nice_floor(void);
// ioprio_get(2): class and level as the kernel packs them, or an errno, negative. ioprio_set(2): 0 or an errno.
int gc_io_priority_get(uint32_t thread);
int gc_io_priority_set(uint32_t thread, int priority);
// The calling thread's timer slack in nanoseconds, prctl(2), or an errno, negative. Setting 0 gives it back what it
// began with; returns 0 or an errno.
int64_t gc_timer_slack_get(void);
int gc_timer_slack_set(uint64_t nanoseconds);

// Rings.c. An io_uring(7), and the words of it that the kernel reads and writes too. One thread adds and enters; one at
// a time takes completions. Keys come back with completions.
typedef struct gc_ring {
  int descriptor;
  int bell;
  uint32_t entry_count;
  uint32_t completion_count;
  void *_Nullable base;
  void *_Nullable entries;
  size_t bytes;
  size_t entry_bytes;
  uint32_t *_Nullable submitted_head;  // the kernel's
  uint32_t *_Nullable submitted_tail;
  uint32_t *_Nullable completed_head;
  uint32_t *_Nullable completed_tail;  // the kernel's
  uint32_t *_Nullable completion_flags;
  void *_Nullable completions;
} gc_ring;
typedef struct gc_ring_completion {
  uint64_t key;
  int32_t result;  // bytes, or an errno, negative
} gc_ring_completion;
// A close-on-exec ring, which rings an eventfd(2) for completions; `ring` stays where it is. Returns 0 or an errno:
// ENOSYS also where the kernel is older than 5.12. A child that is forked has none. One ring at a time.
int gc_ring_make(gc_ring *_Nonnull ring, uint32_t entries, int bell);
void gc_ring_free(gc_ring *_Nonnull ring);
// Whether this process was forked from one that had a ring.
bool gc_ring_is_inherited(void);
// Each adds one, false: there is no room. Buffers live until the completion, stretches until gc_ring_enter() has taken
// them. A priority as gc_io_priority_set() takes it; 0: that of the thread that enters.
bool gc_ring_add_read(
    gc_ring *_Nonnull ring, uint64_t key, int descriptor, void *_Nonnull buffer, uint32_t bytes,
    int64_t offset, int priority);
bool gc_ring_add_write(
    gc_ring *_Nonnull ring, uint64_t key, int descriptor, const gc_stretch *_Nonnull stretches,
    uint32_t count, int64_t offset, int priority);
bool gc_ring_add_cancel(gc_ring *_Nonnull ring, uint64_t key, uint64_t other);
// Gives what was added to the kernel: how many it took, or an errno, negative.
int gc_ring_enter(gc_ring *_Nonnull ring);
// Takes back the last that it did not take; false: none.
bool gc_ring_take_back(gc_ring *_Nonnull ring, uint64_t *_Nonnull key);
// The next completion; false: none for now.
bool gc_ring_next(gc_ring *_Nonnull ring, gc_ring_completion *_Nonnull completion);
// Whether completions ring. Whoever sets it true looks for completions afterwards.
void gc_ring_set_bell(gc_ring *_Nonnull ring, bool rings);

// Ends the process where it stands, so that the stack still shows who called.
__attribute__((noreturn)) static inline void gc_trap(void) { __builtin_trap(); }

// The line at that address will soon be read. Any address will do.
static inline void gc_will_read(const void *_Nullable address) { __builtin_prefetch(address); }

static inline void gc_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#endif
