// Fibers for the model checker: several stacks on one thread, switched explicitly.
// A switch saves the callee-saved registers and the stack pointer: about twelve instructions on
// x86-64 and arm64, ucontext(3) elsewhere.
#ifndef GRANDCENTRAL_CFIBERS_H
#define GRANDCENTRAL_CFIBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A suspended stack. Opaque: a saved stack pointer or a context.
typedef struct gc_fiber {
  void *_Nullable saved;
} gc_fiber;

// Prepares `fiber` to begin with `body(argument)` on the stack [base, base + bytes) at the first
// switch to it. `body` must never return. Whatever ran on that stack before is lost.
void gc_fiber_prepare(
    gc_fiber *_Nonnull fiber, void *_Nonnull base, size_t bytes,
    void (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

// Suspends the calling stack in `from` and continues `to`.
void gc_fiber_switch(gc_fiber *_Nonnull from, gc_fiber *_Nonnull to);

// Makes a stack with an inaccessible page below it, or returns NULL. `bytes` is a multiple of the
// page size.
void *_Nullable gc_fiber_stack(size_t bytes);

// Catches traps and bad memory accesses on the fibers of the calling thread, instead of ending the
// process. When the signal handler has returned, `stopped(signal)` runs in place of the fiber, on a
// separate stack. It must not return. `isOnFiber` returns whether that thread is on a fiber;
// elsewhere, and on other threads, the signal has its old effect. One thread at a time.
void gc_fiber_catch_signals(
    bool (*_Nonnull isOnFiber)(void), void (*_Nonnull stopped)(int signal));

// Ends the catching; the calling thread has no fibers any more.
void gc_fiber_release_signals(void);

#endif
