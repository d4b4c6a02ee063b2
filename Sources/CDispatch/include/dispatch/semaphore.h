// Counting semaphores, which enter the kernel only to sleep and to wake.
//
// Source: Apple, Dispatch, `dispatch_semaphore_create(3)`.
#ifndef __DISPATCH_SEMAPHORE__
#define __DISPATCH_SEMAPHORE__

#include "object.h"
#include "time.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DECL(dispatch_semaphore);
__BEGIN_DECLS

/// Makes a semaphore.
///
/// - Parameter value: how many waits pass before the first that sleeps. 0 to hand events from one
///   thread to another, more to share so many things.
/// - Returns: a new semaphore, with one reference for the caller; NULL for a negative value.
/// - Source: Apple, Dispatch, `dispatch_semaphore_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);

/// Takes one; sleeps until there is one.
///
/// - Parameter timeout: when to give up.
/// - Returns: 0; not 0 when the time is up first, and then nothing was taken.
/// - Source: Apple, Dispatch, `dispatch_semaphore_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);

/// Gives one.
///
/// - Returns: not 0 if that woke a thread.
/// - Source: Apple, Dispatch, `dispatch_semaphore_signal`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
