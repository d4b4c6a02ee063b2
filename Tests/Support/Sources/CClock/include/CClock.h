// A wall clock that a test can set, for the executable that links this. An offset shifts its
// clock_gettime(), and its futex calls on CLOCK_REALTIME. The machine's clock does not change.
#ifndef GRANDCENTRAL_CCLOCK_H
#define GRANDCENTRAL_CCLOCK_H

#include <stdint.h>

// Moves the wall clock, and wakes every thread that sleeps by it, as the kernel would.
void cclock_step(int64_t seconds);

// Returns how many sleeps by the wall clock have begun.
uint64_t cclock_sleeps(void);

#endif
