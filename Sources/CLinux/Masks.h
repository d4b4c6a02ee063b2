// What the files about signal masks share.
#ifndef GRANDCENTRAL_MASKS_H
#define GRANDCENTRAL_MASKS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

// Whether the calling thread has the mask of the engine's threads. Then `mask` becomes the mask for
// a child process. False: a thread of the program, or an item has changed the mask.
// Async-signal-safe.
bool gc_mask_for_children(sigset_t *mask);

// Opens these signals on the calling thread of the engine, and blocks what its other threads block:
// bit (number - 1) is a signal, as below.
void gc_mask_leave_open(uint64_t numbers);

// The mask of the calling thread.
uint64_t gc_mask_of_caller(void);

// Whether the engine has started a thread in this process.
bool gc_has_started_threads(void);

// In a forked child: the engine has started no thread.
void gc_threads_leave_to_parent(void);

// SignalThread.c. Called by the handler of a counted signal: if the thread "gc-signals" need not
// receive the signal any more, it blocks it when the handler returns. So a storm of signals cannot
// keep it from its loop.
void gc_signal_keep_closed(int number, void *context);

// In a forked child: there is no such thread.
void gc_signal_thread_leave_to_parent(void);

#endif
