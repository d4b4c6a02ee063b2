// What the files about signal masks share.
#ifndef GRANDCENTRAL_MASKS_H
#define GRANDCENTRAL_MASKS_H

#include <signal.h>
#include <stdbool.h>

// Whether the calling thread blocks signals because the engine made it do so. Then `mask` becomes
// the mask for a child process. False: a thread of the program, or an item has changed the mask.
// Async-signal-safe.
bool gc_mask_for_children(sigset_t *mask);

// In a forked child: gives the thread the mask for children.
void gc_mask_after_fork(void);

#endif
