// Fibers for the model checker: many stacks on one thread, switched by hand.
// A switch saves what the calling convention lets a function keep, and the stack pointer: a dozen
// instructions on x86-64 and arm64, ucontext(3) elsewhere.
#ifndef GRANDCENTRAL_CFIBERS_H
#define GRANDCENTRAL_CFIBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A suspended stack. Opaque: a saved stack pointer, or a context.
typedef struct gc_fiber {
  void *_Nullable saved;
} gc_fiber;

// Makes `fiber` begin at `body(argument)` on the stack [base, base + bytes) when it is switched to for
// the first time. `body` must never return. What ran on that stack before is forgotten.
void gc_fiber_prepare(
    gc_fiber *_Nonnull fiber, void *_Nonnull base, size_t bytes,
    void (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

// Suspends the calling stack in `from` and continues `to`.
void gc_fiber_switch(gc_fiber *_Nonnull from, gc_fiber *_Nonnull to);

// A stack with an inaccessible page below it, or NULL. `bytes` is a multiple of the page size.
void *_Nullable gc_fiber_stack(size_t bytes);

// From now on a trap or a bad memory access on one of the calling thread's fibers does not end the process:
// once the signal's handler has returned, `stopped(signal)` runs in its place, on a stack of its own. It
// must not return. `isOnFiber` says whether that thread is on a fiber; elsewhere, and on other threads,
// the signal has its old effect. One thread at a time.
void gc_fiber_catch_signals(
    bool (*_Nonnull isOnFiber)(void), void (*_Nonnull stopped)(int signal));

// The calling thread has no fibers any more.
void gc_fiber_release_signals(void);

#endif
