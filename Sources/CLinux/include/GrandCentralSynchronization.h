// What locks and sleeping threads need.
#ifndef GRANDCENTRAL_SYNCHRONIZATION_H
#define GRANDCENTRAL_SYNCHRONIZATION_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Sleeps while *word == expected. deadline: NULL for no limit, else absolute on CLOCK_REALTIME if
// `realtime`, otherwise on CLOCK_MONOTONIC. Returns 0 when woken, or an errno: EAGAIN (the word had
// changed), EINTR, ETIMEDOUT.
int gc_futex_wait(
    const void *_Nonnull word, uint32_t expected, const struct timespec *_Nullable deadline,
    bool realtime);
// Wakes up to `count` sleeping threads. Errors do not matter: freed memory has no sleepers.
void gc_futex_wake(const void *_Nonnull word, int count);

// The thread sanitizer's annotations. Code of this library that is not sanitized must report what
// it orders: everything before a release of an address happens before a later acquire of it. In
// other programs the functions of the sanitizer do not exist, and a call here is a comparison.
bool gc_is_watched_for_races(void);
void gc_order_release(void *_Nonnull address);
void gc_order_acquire(void *_Nonnull address);

#endif
