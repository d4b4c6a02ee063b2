// What the engine needs and Swift cannot express: thread-locals with a one-instruction accessor,
// the futex call, the spin hint, threads with an explicit signal mask, signal handlers. Most
// functions are one system call or one instruction. Policy (retry, fault, fallback) is in Swift.
#ifndef CGRANDCENTRAL_LINUX_H
#define CGRANDCENTRAL_LINUX_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>  // mode_t, which public declarations name: the module that they find it in
#include <time.h>

// The context of a thread. Only the owning thread reads and writes its fields, so they are plain,
// except where a function below says otherwise. The memory is type-stable: a context outlives its
// thread and is reused by a later one. So its address may be kept as the identity of a thread and
// read after the thread has ended.
typedef struct gc_thread {
  struct gc_frame *_Nullable frame;  // innermost frame: see Primitives/ThreadFrames
  void *_Nullable nodes;   // free work nodes, a list through their first word
  uint32_t node_count;
  uint32_t tid;            // the kernel's thread id
  void *_Nullable shared;  // the part that other threads may use: parker, wait record
  void *_Nullable worker;  // the pool's worker on this thread, or NULL
  uint32_t qos;            // packed QoS of the running item, which async() captures
  uint32_t effect;         // class in effect on this thread; 0: not the pool's (ThreadEffects)
  uint32_t applied;        // band that the thread itself applied: see Priority/EffectivePriority
  uint32_t boosted;           // not 0: other threads may have boosted the priority since
  uint32_t lane_slot;     // the last slot used in the registry of lanes, or 0
  uint32_t lane_slot_kept;  // whether that slot is free and kept for the thread's next lane
  uint64_t *_Nullable lane_word;  // address of that slot
  bool is_main;            // first thread of the process, or the thread left in a forked child
  bool in_full_loop;       // runs iterations of a concurrentPerform that uses the pool's width
  uint8_t submissions;     // counts items submitted while samples are taken: see gc_is_sample()
  uint32_t locks;          // depth inside the fork gate, see gc_lock_enter()
  uint32_t items;          // number of lane items begun: see gc_item_began()
  uint32_t items_unshown;  // what a thread without a record counts
  uint32_t *_Nullable items_shown;  // the count on the board, or items_unshown; NULL only at first
  void *_Nullable board;   // the writer of the thread's record: see BlackBox, in the core
  void *_Nullable events;  // the writer of the thread's events: see BlackBox/EventWriter
  struct gc_thread *_Nullable next_free;
  struct gc_thread *_Nullable next_known;  // list of all contexts; written once
} gc_thread;

// One level of a thread's position: it runs an item of `queue`.
typedef struct gc_frame {
  struct gc_frame *_Nullable previous;  // NULL: the base, which names no queue
  struct gc_frame *_Nullable inner;     // NULL: not made yet
  void *_Nullable queue;                // with a mark in its low bits: see FrameKind, in the core
} gc_frame;

// initial-exec: one load relative to the thread pointer, no call. The variable is a pointer, so it
// fits the loader's reserve when the library is loaded late.
extern __thread gc_thread *_Nullable gc_thread_self __attribute__((tls_model("initial-exec")));

static inline gc_thread *_Nullable gc_thread_current(void) { return gc_thread_self; }
static inline void gc_thread_set_current(gc_thread *_Nullable thread) { gc_thread_self = thread; }

// Lets the thread count in its own memory what the board does not show. Call for a new context, and
// when the thread has no record any more.
static inline void gc_items_hide(gc_thread *_Nonnull self) {
  self->items_shown = &self->items_unshown;
}
// Counts another lane item of the calling thread, for the pool's monitor, which sees whether the
// thread still runs the same item, and on the board (BlackBox/BoardLayout). Relaxed: a stale count
// delays the monitor by one look. Other processes may change the one on the board, on which nothing
// depends.
static inline void gc_item_began(gc_thread *_Nonnull self) {
#if defined(__x86_64__)
  // The compiler takes three instructions for a relaxed load, an addition and a relaxed store.
  __asm__ volatile("incl %0" : "+m"(self->items));
  __asm__ volatile("incl %0" : "+m"(*self->items_shown));
#else
  __atomic_store_n(&self->items, self->items + 1, __ATOMIC_RELAXED);
  uint32_t shown = __atomic_load_n(self->items_shown, __ATOMIC_RELAXED);
  __atomic_store_n(self->items_shown, shown + 1, __ATOMIC_RELAXED);
#endif
}
static inline uint32_t gc_items_of(const gc_thread *_Nonnull thread) {
  return __atomic_load_n(&thread->items, __ATOMIC_RELAXED);
}

// The context of the thread that is about to fork, or 0. Primitives/ForkGate.swift has the
// protocol.
extern uintptr_t gc_fork_closer;
// The number of times that gc_fork_closer became 0; threads sleep on it.
extern uint32_t gc_fork_turn;

// Whether threads must order the two steps of gc_lock_enter() themselves.
extern bool gc_fork_needs_order;

// Enters the fork gate before a lock is taken. False: another thread forks; call gc_lock_leave() at
// once. A thread that already holds a lock passes, because the forking thread waits for it.
// Relaxed, and ordered for the compiler: gc_fork_close() orders the two steps in every thread.
static inline bool gc_lock_enter(gc_thread *_Nonnull self) {
  uint32_t held = self->locks;
  __atomic_store_n(&self->locks, held + 1, __ATOMIC_RELAXED);
  if (held) return true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&gc_fork_needs_order, __ATOMIC_RELAXED)) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
  uintptr_t closer = __atomic_load_n(&gc_fork_closer, __ATOMIC_RELAXED);
  return closer == 0 || closer == (uintptr_t)self;
}
// Leaves the gate after a lock is released. Release: pairs with the acquire in gc_locks_of().
static inline void gc_lock_leave(gc_thread *_Nonnull self) {
  __atomic_store_n(&self->locks, self->locks - 1, __ATOMIC_RELEASE);
}
// How deep a thread is inside the gate: locks held or waited for, and sections without a lock.
static inline uint32_t gc_locks_of(const gc_thread *_Nonnull thread) {
  return __atomic_load_n(&thread->locks, __ATOMIC_SEQ_CST);
}
// Closes the gate: a thread for which gc_locks_of() then returns 0 takes no lock until
// gc_fork_open(). False: another thread has closed it.
bool gc_fork_close(gc_thread *_Nonnull self);
// Opens the gate and wakes the threads that wait.
void gc_fork_open(void);
uintptr_t gc_fork_seen_closer(void);
uint32_t gc_fork_seen_turn(void);
// Sleeps while the turn is `turn`.
void gc_fork_wait(uint32_t turn);
// Names the lock that the closer holds during the fork.
void gc_fork_hold(uint32_t *_Nonnull lock);
// Releases that lock, leaves the ring to the parent, and opens the gate for good, in a child that
// must not run Swift code. The child may fork, but the engine is of no use in it or in its
// children. Without effect unless `self` has closed the gate.
void gc_fork_give_up(gc_thread *_Nonnull self);
bool gc_fork_is_given_up(void);
// Registers handlers for each fork(2): pthread_atfork(3). In the child, the thread also gets the
// program's signal mask. Returns 0 or ENOMEM.
int gc_at_fork(
    void (*_Nonnull prepare)(void), void (*_Nonnull parent)(void), void (*_Nonnull child)(void));

// The thread sanitizer's annotations. Code of this library that is not sanitized must report what
// it orders: everything before a release of an address happens before a later acquire of it. In
// other programs the functions of the sanitizer do not exist, and a call here is a comparison.
bool gc_is_watched_for_races(void);
void gc_order_release(void *_Nonnull address);
void gc_order_acquire(void *_Nonnull address);

// DuplicateEngines.c. The images of the process that contain the engine, by path; NULL: the program
// itself.
enum { GC_MOST_COPIES = 4 };
typedef struct gc_engines {
  int count;
  const char *_Nullable names[GC_MOST_COPIES];
} gc_engines;
// Returns true if there are several and no call in any of them has returned true before.
bool gc_engines_found(gc_engines *_Nonnull copies);

// Tasks.c. The task of Swift Concurrency that runs on the calling thread.
typedef struct gc_type_name {
  const char *_Nullable bytes;  // NULL: none; valid until the process ends
  size_t count;
} gc_type_name;
typedef struct gc_task {
  const char *_Nullable name;  // NULL: none; valid until the task ends
  gc_type_name actor;          // the class of the default actor that the thread is on
} gc_task;
// Returns false if there is neither.
bool gc_task_current(gc_task *_Nonnull task);

// ThreadEnds.c. Registers `destructor(value)` for the end of the calling thread. Returns 0 or an
// errno.
int gc_thread_at_exit(void *_Nonnull value, void (*_Nonnull destructor)(void *_Nonnull));
// Sets the function that the main thread calls at its end, before the destructors above.
void gc_at_main_end(void (*_Nonnull handler)(void));
// Whether the main thread of this process has ended, or begun to. False too if the main thread has
// ended, has never used the engine, and did not load it.
bool gc_main_has_ended(void);

// Masks.c. Starts a detached thread with `stack_bytes` of stack (0: default), which blocks the
// signals that the program blocks, and all that come from outside. Returns 0 or an errno (EAGAIN:
// no memory or a limit on threads).
int gc_thread_spawn(
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument,
    size_t stack_bytes);
// Sets what counts as the program's signal mask: bit (number - 1) blocks a signal. Threads of the
// engine give it to the processes that they start. Until the first call it is the mask of the
// thread that starts the engine's first one.
void gc_set_program_mask(uint64_t blocked);

uint32_t gc_thread_id(void);
uint32_t gc_process_id(void);
void gc_thread_set_name(const char *_Nonnull name);

// Sleeps while *word == expected. deadline: NULL for no limit, else absolute on CLOCK_REALTIME if
// `realtime`, otherwise on CLOCK_MONOTONIC. Returns 0 when woken, or an errno: EAGAIN (the word had
// changed), EINTR, ETIMEDOUT.
int gc_futex_wait(
    const void *_Nonnull word, uint32_t expected, const struct timespec *_Nullable deadline,
    bool realtime);
// Wakes up to `count` sleeping threads. Errors do not matter: freed memory has no sleepers.
void gc_futex_wake(const void *_Nonnull word, int count);

// Makes a close-on-exec, non-blocking eventfd(2). Returns -1 with errno set on failure.
int gc_eventfd(void);
// Moves `descriptor` to the number `other`, close-on-exec. Both are open.
void gc_descriptor_move(int descriptor, int other);

// An event of epoll(7), without the packing that the kernel's record has on some machines.
typedef struct gc_readiness {
  uint64_t key;
  uint32_t events;
} gc_readiness;

enum { GC_READINESS_BATCH = 64 };

// Makes a close-on-exec epoll(7) set. Returns -1 with errno set on failure.
int gc_epoll_make(void);
// epoll_ctl(2). Each returns 0 or an errno.
int gc_epoll_add(int set, int descriptor, uint32_t events, uint64_t key);
int gc_epoll_change(int set, int descriptor, uint32_t events, uint64_t key);
int gc_epoll_remove(int set, int descriptor);
// epoll_wait(2) for up to GC_READINESS_BATCH events; timeout -1: no limit. Returns their number, or
// -1 with errno set.
int gc_epoll_wait(int set, gc_readiness *_Nonnull ready, int timeout_milliseconds);
// poll(2) of one descriptor, without waiting. Returns the conditions that hold; -1 with errno set.
int gc_poll_now(int descriptor, int events);

// Makes a close-on-exec, non-blocking timerfd_create(2) on CLOCK_REALTIME or CLOCK_MONOTONIC.
// Returns -1 with errno set on failure.
int gc_timer_make(bool realtime);
// Sets the timer to fire once, at an absolute time of its clock.
void gc_timer_set(int timer, uint64_t nanoseconds);

// Makes a close-on-exec, non-blocking inotify(7) instance. Returns -1 with errno set on failure.
int gc_inotify_make(void);
// inotify_add_watch(2) returns the number of a watch or a negative errno; inotify_rm_watch(2)
// returns 0 or an errno.
int gc_inotify_watch(int instance, const char *_Nonnull path, uint32_t mask);
int gc_inotify_unwatch(int instance, int number);

// ioctl(2) FIONREAD and SIOCOUTQ, and fcntl(2) F_GETPIPE_SZ. Each returns a number, or -1 with
// errno set.
int gc_readable_bytes(int descriptor);
int gc_unsent_bytes(int descriptor);
int gc_pipe_bytes(int descriptor);
// Number of CPUs in the affinity mask of a thread, or -1.
int gc_affinity_count(uint32_t thread);
// CPU time of thread `tid` of this process in nanoseconds, or -1 if it has ended.
int64_t gc_thread_cpu_nanoseconds(uint32_t tid);

// Retains an object unless its deinit has begun. Returns the object or NULL. A function of the
// Swift runtime; like a weak reference, but without the side table that such an object has.
void *_Nullable swift_tryRetain(void *_Nonnull object);
// Signals.c. A handler counts the deliveries of a signal, on whatever thread it runs, and then
// makes an eventfd(2) readable. Callers must serialise install and uninstall of one signal.
// Whether a program can handle the signal. False for SIGKILL, SIGSTOP, signals of the C library and
// invalid numbers.
bool gc_signal_can_be_caught(int number);
// Begins to count. The handler replaces the program's; it calls the program's handler too, as that
// was installed. Allocates nothing. Returns 0 or an errno.
int gc_signal_install(int number);
// Restores the program's action, unless the program has installed another; then that stays.
void gc_signal_uninstall(int number);
// Returns the number of deliveries since the last call.
uint64_t gc_signal_take(int number);
// Sets the eventfd, for good: a handler may be about to write to it at any time.
void gc_signal_set_eventfd(int descriptor);

// SignalThread.c. Makes the thread "gc-signals", unless there is one. Returns 0 or an errno:
// pthread_create(3).
int gc_signal_thread_start(void);
// Makes that thread leave a signal open from now on.
void gc_signal_open(int number);
// Makes that thread block the signal. Returns the number of this change.
uint32_t gc_signal_close(int number);
// Waits until the thread has made the change, at most a second.
void gc_signal_await(uint32_t change);
// Called at the end of the main thread: the thread "gc-signals" leaves open what the caller does,
// if the engine has threads.
void gc_signal_stand_in(void);

// Processes.c. Makes a close-on-exec pidfd_open(2), readable when the process has exited. Returns
// -1 with errno set on failure.
int gc_process_descriptor(int32_t process);
// Whether the process has exited, as far as that is visible without a descriptor. Leaves its status
// to the program.
bool gc_process_has_exited(int32_t process);

typedef enum { GC_PROCESS_FORKED, GC_PROCESS_EXECUTED } gc_process_change;
typedef struct gc_process_event {
  int32_t process;
  gc_process_change change;
} gc_process_event;
// Opens a close-on-exec, non-blocking descriptor for events of all processes of the machine.
// Returns -1 with errno set: EPERM, EPROTONOSUPPORT or EOPNOTSUPP if this process may not receive
// them.
int gc_process_events_open(void);
void gc_process_events_close(int connector);
// Receives the next event. Returns 1; 0 if there is none yet; -1 with errno set.
int gc_process_events_next(int connector, gc_process_event *_Nonnull next);

// Transfers.c. Each returns a number of bytes or a negative errno. `offset` -1: the file position.
// A call interrupted by a signal is repeated, except gc_transfer_read_cached().
typedef struct gc_stretch {
  const void *_Nullable start;
  size_t bytes;
} gc_stretch;
enum { GC_STRETCHES = 64 };
int64_t gc_transfer_read(int descriptor, void *_Nonnull buffer, size_t bytes, int64_t offset);
// Reads only what is in memory: preadv2(2) with RWF_NOWAIT. -EAGAIN: the disk is needed.
int64_t gc_transfer_read_cached(
    int descriptor, void *_Nonnull buffer, size_t bytes, int64_t offset);
// Whether reads always go to the disk: O_DIRECT. RWF_NOWAIT does not prevent such reads from
// waiting.
bool gc_reads_past_cache(int descriptor);
// Writes up to GC_STRETCHES stretches without raising SIGPIPE. Sockets use MSG_NOSIGNAL. For all
// else, if it `may_raise`, the signal is blocked on this thread and a raised one is consumed.
int64_t gc_transfer_write(
    int descriptor, const gc_stretch *_Nonnull stretches, int count, int64_t offset, bool is_socket,
    bool may_raise);
// Sets or clears O_NONBLOCK of an open file. Returns 1 if it was set before, 0 if not, or a
// negative errno.
int gc_set_nonblocking(int descriptor, bool on);
// Whether two descriptors share one open file, and so its flags: kcmp(2). 1, 0 or a negative errno.
int gc_is_same_open_file(int one, int other);
// Returns O_RDONLY, O_WRONLY or O_RDWR, or a negative errno.
int gc_access_mode(int descriptor);
// open(2), repeated when interrupted by a signal. Returns a descriptor or a negative errno.
int gc_open_file(const char *_Nonnull path, int flags, uint32_t mode);

// Scheduling.c. The scheduling of a thread; 0: the calling thread. sched_setattr(2).
typedef struct gc_scheduling {
  uint32_t policy;
  int32_t nice;
  uint64_t slice_nanoseconds;  // time before another thread's turn; to set, 0: the kernel's choice
  uint32_t least_utilization;  // clamps of the utilization, in 1024ths of the largest CPU
  uint32_t most_utilization;
  bool resets_on_fork;
} gc_scheduling;
// Each returns 0 or an errno: EPERM, ESRCH, EINVAL; E2BIG or EOPNOTSUPP on older kernels.
int gc_scheduling_get(uint32_t thread, gc_scheduling *_Nonnull scheduling);
int gc_scheduling_set(uint32_t thread, const gc_scheduling *_Nonnull scheduling, bool with_clamps);
// The lowest nice value that this process may set without privilege: RLIMIT_NICE, getrlimit(2). 20:
// none.
int gc_nice_floor(void);
// ioprio_get(2) returns class and level in the kernel's packing, or a negative errno. ioprio_set(2)
// returns 0 or an errno.
int gc_io_priority_get(uint32_t thread);
int gc_io_priority_set(uint32_t thread, int priority);
// The timer slack of the calling thread in nanoseconds, prctl(2), or a negative errno. Setting 0
// restores the initial value; returns 0 or an errno.
int64_t gc_timer_slack_get(void);
int gc_timer_slack_set(uint64_t nanoseconds);

// Rings.c. An io_uring(7), with the words that the kernel shares. One thread adds and enters; one
// thread at a time takes completions. A completion carries the key of its request.
typedef struct gc_uring {
  int descriptor;
  int wakeDescriptor;
  uint32_t entry_count;
  uint32_t completion_count;
  void *_Nullable base;
  void *_Nullable entries;
  size_t bytes;
  size_t entry_bytes;
  uint32_t *_Nullable submitted_head;  // written by the kernel
  uint32_t *_Nullable submitted_tail;
  uint32_t *_Nullable completed_head;
  uint32_t *_Nullable completed_tail;  // written by the kernel
  uint32_t *_Nullable completion_flags;
  void *_Nullable completions;
} gc_uring;
typedef struct gc_uring_completion {
  uint64_t key;
  int32_t result;  // bytes or a negative errno
} gc_uring_completion;
// Makes a close-on-exec ring that signals an eventfd(2) for completions. `ring` must not move.
// Returns 0 or an errno; ENOSYS also if the kernel is older than 5.12. A forked child has no ring.
// One ring at a time.
int gc_uring_make(gc_uring *_Nonnull ring, uint32_t entries, int wakeDescriptor);
void gc_uring_free(gc_uring *_Nonnull ring);
// Closes the descriptors of the parent's ring in a forked child. gc_leave_to_parent() calls it: the
// engine has one set of fork handlers. A ring's maker must not add another, because it holds a lock
// of the engine, and the C library may hold its own lock while prepare() waits for that one.
void gc_uring_leave_to_parent(void);
// In a forked child: neither the parent's ring nor threads of the engine exist. Repeating it before
// the child uses the engine is harmless.
void gc_leave_to_parent(void);
// Whether this process was forked from one that had a ring.
bool gc_uring_is_inherited(void);
// Each adds a request; false: there is no room. Buffers must live until the completion, stretches
// until gc_uring_enter() has taken them. The priority is in the form of gc_io_priority_set(); 0:
// that of the thread that enters.
bool gc_uring_add_read(
    gc_uring *_Nonnull ring, uint64_t key, int descriptor, void *_Nonnull buffer, uint32_t bytes,
    int64_t offset, int priority);
bool gc_uring_add_write(
    gc_uring *_Nonnull ring, uint64_t key, int descriptor, const gc_stretch *_Nonnull stretches,
    uint32_t count, int64_t offset, int priority);
bool gc_uring_add_cancel(gc_uring *_Nonnull ring, uint64_t key, uint64_t other);
// Submits the added requests to the kernel. Returns the number that it took, or a negative errno.
int gc_uring_enter(gc_uring *_Nonnull ring);
// Removes the last request that the kernel did not take; false: there is none.
bool gc_uring_take_back(gc_uring *_Nonnull ring, uint64_t *_Nonnull key);
// Takes the next completion; false: there is none yet.
bool gc_uring_next(gc_uring *_Nonnull ring, gc_uring_completion *_Nonnull completion);
// Sets whether completions signal the eventfd. A caller that enables it looks for completions
// afterwards.
void gc_uring_set_eventfd(gc_uring *_Nonnull ring, bool enables);

// Concurrency.c. What becomes of the jobs of the Swift Concurrency runtime. Each function receives
// a job with its priority, the raw value of a TaskPriority, and returns at once. Any thread.
typedef struct gc_concurrency_doors {
  // For the global executor.
  void (*_Nonnull global)(void *_Nonnull job, uint8_t priority);
  // For the main actor.
  void (*_Nonnull main)(void *_Nonnull job, uint8_t priority);
  // For the global executor, after a delay in nanoseconds.
  void (*_Nonnull delayed)(void *_Nonnull job, uint8_t priority, uint64_t nanoseconds);
  // For the global executor, at a time of a clock of the runtime: 1 continuous, 2 suspending,
  // 3 wall. A negative tolerance: none is given.
  void (*_Nonnull at)(
      void *_Nonnull job, uint8_t priority, int clock, int64_t seconds, int64_t nanoseconds,
      int64_t tolerance_seconds, int64_t tolerance_nanoseconds);
  // Runs the main actor's jobs for the rest of the process, on the main thread. Does not return.
  void (*_Nonnull drain_main)(void);
  // The main actor's executor: an object and its conformance to SerialExecutor. NULL: the runtime
  // keeps its own, and calls Dispatch's functions for its jobs.
  void *_Nullable main_identity;
  void *_Nullable main_implementation;
} gc_concurrency_doors;
// Makes the runtime call these functions from now on. False, and nothing is changed: the process
// has no such runtime, or another library has taken it over. May be called again.
bool gc_concurrency_install(const gc_concurrency_doors *_Nonnull doors);
// Run a job on the calling thread: for no serial executor; for the main actor. Only after an
// installation. They ignore `queue`, which all functions that run jobs receive.
void gc_concurrency_run(void *_Nonnull job, void *_Nonnull queue);
void gc_concurrency_run_main(void *_Nonnull job, void *_Nonnull queue);

// MainQueue.c. How a run loop serves the main queue of another Dispatch library.
typedef struct gc_foreign_main_queue {
  int descriptor;  // becomes readable when the queue gets work; the library's
  void (*_Nullable drain)(void *_Nullable message);  // runs what is queued; the main thread only
} gc_foreign_main_queue;
// Finds it. False: the process has no such library, or its functions reach this engine, whose
// global queue of the default class is `own_global`.
bool gc_foreign_main_queue_find(
    const void *_Nonnull own_global, gc_foreign_main_queue *_Nonnull queue);

// BlackBox.c. Memory that other processes of the user can read. `folder` NULL: an anonymous file,
// which exists as long as the process. Otherwise a file in that folder, which must be on tmpfs and
// closed to other users; it remains when a signal ends the process. Not inherited by a forked
// child. Returns NULL with errno set; EPERM: the folder is open to other users, or the program runs
// with privileges; EMEDIUMTYPE: the folder is on another file system.
void *_Nullable gc_board_map(const char *_Nullable folder, size_t bytes);
// Copies the name of the calling thread, or of the program, into 16 bytes, padded with zeros.
void gc_board_name(char *_Nonnull name, bool of_program);
// In a forked child: leaves the parent's page, and closes the parent's descriptor if it is still
// that file.
void gc_board_leave_to_parent(void);
// Calls gc_board_was_made() of Sources/Board, if it is linked. Any thread that holds no lock.
void gc_board_made(void);
// Returns the text of gc_board_holders() of Sources/Board, which the caller frees; NULL: it is not
// linked, or the board does not show the holders.
char *_Nullable gc_board_holders_of_process(void);

// The first page of the board at an address that the linker knows, so that an item that is not
// recorded costs a comparison and no load of an address. Zeros, until gc_board_map() maps the board
// over it.
#if defined(__x86_64__)
#define GC_BOARD_PAGE_BYTES 4096
#else
// The largest page that a kernel for this processor uses.
#define GC_BOARD_PAGE_BYTES 65536
#endif
struct gc_board_page {
  _Alignas(GC_BOARD_PAGE_BYTES) uint64_t words[GC_BOARD_PAGE_BYTES / 8];
};
__attribute__((visibility("hidden"))) extern struct gc_board_page gc_board_page;
// The word that says what the engine records, which other processes set, and the next one, until
// when: see BlackBox/EventLayout. The lowest byte is not 0 if each item is recorded. Samples have a
// bit beside that byte, so that an item which is none costs nothing where it runs.
#define GC_EVENT_CONTROL 64
#define GC_EVENT_LEASE 65
#define GC_EVENT_LEVEL 0xff
#define GC_EVENT_SAMPLES 0x200
#define GC_SAMPLE_INTERVAL 64
// Relaxed: the word alone matters, and a stale value delays a recording by nanoseconds.
static inline uint64_t gc_event_control_now(void) {
  return __atomic_load_n(&gc_board_page.words[GC_EVENT_CONTROL], __ATOMIC_RELAXED);
}
// Whether the word is not 0. Every item asks where it is submitted.
static inline bool gc_records_events(void) {
#if defined(__x86_64__)
  // The compiler does not compare memory that it loads as an atomic. The processor loads it alike.
  bool records;
  __asm__ volatile("cmpq $0, %1" : "=@ccne"(records) : "m"(gc_board_page.words[GC_EVENT_CONTROL]));
  return __builtin_expect(records, 0);
#else
  return __builtin_expect(gc_event_control_now() != 0, 0);
#endif
}
// Whether the word asks for each item.
static inline bool gc_records_each_item(void) {
#if defined(__x86_64__)
  bool each;
  __asm__ volatile("cmpb $0, %1"
                   : "=@ccne"(each)
                   : "m"(*(const uint8_t *)&gc_board_page.words[GC_EVENT_CONTROL]));
  return each;
#else
  return (gc_event_control_now() & GC_EVENT_LEVEL) != 0;
#endif
}
// The same, or whether `byte` is not 0. Every item asks where it runs. In this order: one
// instruction joins them and sets the flag.
static inline bool gc_records_each_item_or(uint8_t byte) {
#if defined(__x86_64__)
  bool either;
  __asm__ volatile("orb %2, %1"
                   : "=@ccne"(either), "+q"(byte)
                   : "m"(gc_board_page.words[GC_EVENT_CONTROL]));
  return __builtin_expect(either, 0);
#else
  return __builtin_expect(gc_records_each_item() || byte != 0, 0);
#endif
}
// Counts another item that the calling thread submits. Whether it is a sample: one in 64 is. The
// count is a byte that overflows with each sample: one instruction adds and sets the flag.
static inline bool gc_is_sample(gc_thread *_Nonnull self) {
  self->submissions = (uint8_t)(self->submissions + 256 / GC_SAMPLE_INTERVAL);
  return __builtin_expect(self->submissions == 0, 0);
}
// The time from which on nothing is recorded, as events count it. Relaxed: a stale lease ends the
// recording late, or lets an event out.
static inline uint64_t gc_event_lease_now(void) {
  return __atomic_load_n(&gc_board_page.words[GC_EVENT_LEASE], __ATOMIC_RELAXED);
}
// CLOCK_MONOTONIC in nanoseconds, and as of the kernel's last tick.
uint64_t gc_monotonic(void);
uint64_t gc_monotonic_coarse(void);
// Whether the kernel itself reads the time from the processor's counter, so that all processors
// count alike.
bool gc_counts_ticks(void);
// The time of an event: the processor's counter, or CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t gc_ticks(bool from_counter) {
#if defined(__x86_64__)
  if (from_counter) return __builtin_ia32_rdtsc();
#endif
  return gc_monotonic();
}

// Makes the text the last that the process prints, where a handler of the trap prints a backtrace
// and then lets the process end, as the Swift runtime's does. Without a handler nothing happens.
void gc_repeat_after_backtrace(const char *_Nonnull text);

// Traps, so that the stack still shows the caller.
__attribute__((noreturn)) static inline void gc_trap(void) { __builtin_trap(); }

// Prefetches the cache line of an address, which may be invalid.
static inline void gc_will_read(const void *_Nullable address) { __builtin_prefetch(address); }

// Prefetches the cache line of an address for writing. Without an option that excludes old
// processors, the compiler's own prefetch would be one for reading.
static inline void gc_will_write(const void *_Nonnull address) {
#if defined(__x86_64__)
  __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)address));
#else
  __builtin_prefetch(address, 1);
#endif
}

// Returns a number that the compiler must not know. A caller that knows what a function returns
// puts it into a register of its own and keeps it across the call, instead of ending with a jump.
static inline long gc_unknown(long number) {
  __asm__("" : "+r"(number));
  return number;
}

static inline void gc_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#endif
