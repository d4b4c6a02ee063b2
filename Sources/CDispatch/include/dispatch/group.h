// SPDX-License-Identifier: Apache-2.0
// Groups: waiting for several pieces of work, or submitting work when all of them have ended.
//
// A group is a counter. dispatch_group_enter() and submitting work add 1; dispatch_group_leave()
// and the end of the work subtract 1. At 0 all waits end and the notifications are submitted. The
// group can then be used again.
//
// Source: Apple, Dispatch, `dispatch_group_create(3)`.
#ifndef __DISPATCH_GROUP__
#define __DISPATCH_GROUP__

#include "queue.h"
#include "time.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DECL(dispatch_group);
__BEGIN_DECLS

/// Creates an empty group.
///
/// - Returns: a new group, with one reference for the caller. The caller may release it before it
///   is empty.
/// - Source: Apple, Dispatch, `dispatch_group_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_group_t dispatch_group_create(void);

#ifdef __BLOCKS__
/// Submits a block as dispatch_async() does, as a member of the group until it has run.
///
/// - Source: Apple, Dispatch, `dispatch_group_async`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_async(
    dispatch_group_t group, dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// Does the same as dispatch_group_async() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_group_async_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL2 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_group_async_f(
    dispatch_group_t group, dispatch_queue_t queue, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t work);

/// Waits until the group is empty.
///
/// - Parameter timeout: the point in time at which the wait ends.
/// - Returns: 0; nonzero after the timeout.
/// - Source: Apple, Dispatch, `dispatch_group_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);

#ifdef __BLOCKS__
/// Submits a block when the group becomes empty; at once if it is empty. Several notifications are
/// submitted in the order of the calls.
///
/// - Source: Apple, Dispatch, `dispatch_group_notify`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_notify(
    dispatch_group_t group, dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// Does the same as dispatch_group_notify() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_group_notify_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL2 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_group_notify_f(
    dispatch_group_t group, dispatch_queue_t queue, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t work);

/// Adds a member to the group. dispatch_group_leave() removes it.
///
/// Stops if the group has too many members, about 2³⁰.
/// - Source: Apple, Dispatch, `dispatch_group_enter`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_enter(dispatch_group_t group);

/// Removes a member that dispatch_group_enter() added.
///
/// Stops if the group is empty.
/// - Source: Apple, Dispatch, `dispatch_group_leave`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_leave(dispatch_group_t group);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
