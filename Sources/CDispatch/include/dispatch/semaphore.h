// SPDX-License-Identifier: Apache-2.0
// Counting semaphores. They enter the kernel only to sleep and to wake a thread.
//
// Source: Apple, Dispatch, `dispatch_semaphore_create(3)`.
#ifndef __DISPATCH_SEMAPHORE__
#define __DISPATCH_SEMAPHORE__

#include "object.h"
#include "time.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DECL(dispatch_semaphore);
__BEGIN_DECLS

/// Creates a semaphore.
///
/// - Parameter value: the initial number of permits: 0 to hand events from one thread to another,
///   the number of resources to share a pool of them.
/// - Returns: a new semaphore, with one reference for the caller; NULL for a negative value.
/// - Source: Apple, Dispatch, `dispatch_semaphore_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);

/// Takes a permit; sleeps until one is available.
///
/// - Parameter timeout: the point in time at which the wait ends.
/// - Returns: 0; nonzero after the timeout, and then no permit was taken.
/// - Source: Apple, Dispatch, `dispatch_semaphore_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);

/// Returns a permit, and wakes a waiting thread, if any.
///
/// - Returns: nonzero if a waiting thread got the permit.
/// - Source: Apple, Dispatch, `dispatch_semaphore_signal`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
