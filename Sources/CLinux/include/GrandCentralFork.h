// The gate that a fork closes in front of the engine's locks, and what a forked child leaves to its
// parent.
#ifndef GRANDCENTRAL_FORK_H
#define GRANDCENTRAL_FORK_H

#include <stdbool.h>
#include <stdint.h>

#include "GrandCentralThread.h"

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

// In a forked child: neither the parent's ring nor threads of the engine exist. Repeating it before
// the child uses the engine is harmless.
void gc_leave_to_parent(void);

// Closes an inherited descriptor of the engine's in a forked child: an epoll set, an eventfd, a
// timer, an inotify instance, or a ring. Such files have no type, which fstat(2) shows. So a file
// or socket of the program stays open that has got the number since the program closed the
// engine's.
void gc_close_inherited(int descriptor);

// Closes the descriptors of the parent's ring in a forked child. gc_leave_to_parent() calls it: the
// engine has one set of fork handlers. A ring's maker must not add another, because it holds a lock
// of the engine, and the C library may hold its own lock while prepare() waits for that one.
void gc_uring_leave_to_parent(void);

// In a forked child: leaves the parent's page, and closes the parent's descriptor if it is still
// that file.
void gc_board_leave_to_parent(void);

#endif
