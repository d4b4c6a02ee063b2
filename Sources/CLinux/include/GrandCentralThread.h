// The context of a thread, what the system says of a thread, and its end.
#ifndef GRANDCENTRAL_THREAD_H
#define GRANDCENTRAL_THREAD_H

#include <stdbool.h>
#include <stdint.h>

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
  uint8_t lane_slot_kept;  // whether that slot is free and kept for the thread's next lane
  bool gives_way;          // see gc_give_way()
  uint16_t spins;          // how its last spins before sleeps ended: see Platform/AdaptiveSpin
  uint64_t *_Nullable lane_word;  // address of that slot
  bool is_main;            // first thread of the process, or the thread left in a forked child
  bool in_full_loop;       // runs iterations of a concurrentPerform that uses the pool's width
  bool has_ample_stack;    // false also if that was not asked yet (AmpleStack.c)
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

// Asks a worker's thread, from any other, to end the drains that it is in, between two items: other
// lanes have waited for long. The worker takes the request back when it begins its next node.
// Relaxed: a request that comes late ends a drain early.
static inline void gc_give_way(gc_thread *_Nonnull thread) {
  __atomic_store_n(&thread->gives_way, true, __ATOMIC_RELAXED);
}
static inline void gc_gave_way(gc_thread *_Nonnull self) {
  __atomic_store_n(&self->gives_way, false, __ATOMIC_RELAXED);
}
static inline bool gc_gives_way(const gc_thread *_Nonnull self) {
  return __atomic_load_n(&self->gives_way, __ATOMIC_RELAXED);
}

uint32_t gc_thread_id(void);
uint32_t gc_process_id(void);
void gc_thread_set_name(const char *_Nonnull name);

// Calls body(argument) on the calling thread, on another stack if its own is small. Not for what
// leaves by an exception or the thread's end, or changes the signal mask for longer.
void gc_with_ample_stack(void (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

// Number of CPUs in the affinity mask of a thread, or -1.
int gc_affinity_count(uint32_t thread);
// CPU time of thread `tid` of this process in nanoseconds, or -1 if it has ended.
int64_t gc_thread_cpu_nanoseconds(uint32_t tid);

// ThreadEnds.c. Registers `destructor(value)` for the end of the calling thread. Returns 0 or an
// errno.
int gc_thread_at_exit(void *_Nonnull value, void (*_Nonnull destructor)(void *_Nonnull));
// Sets the function that the main thread calls at its end, before the destructors above.
void gc_at_main_end(void (*_Nonnull handler)(void));
// Whether the main thread of this process has ended, or begun to. False too if the main thread has
// ended, has never used the engine, and did not load it.
bool gc_main_has_ended(void);

#endif
