// A wall clock that a test can set, for the executable that links this: its clock_gettime() and its
// futex calls on CLOCK_REALTIME are shifted by an offset. Setting the machine's own would disturb it.
#ifndef GRANDCENTRAL_CCLOCK_H
#define GRANDCENTRAL_CCLOCK_H

#include <stdint.h>

// Moves the wall clock, and lets everybody who sleeps by it see that, as the kernel would.
void cclock_step(int64_t seconds);

// How many sleeps by the wall clock have begun.
uint64_t cclock_sleeps(void);

#endif
