// Groups: several pieces of work, and what is to happen when all have ended.
//
// A group counts. dispatch_group_enter() and submitting work add one, dispatch_group_leave() and
// the work's end take one away; at 0 whoever waits goes on, and what was to be notified is
// submitted. Then it can be used again.
//
// Source: Apple, Dispatch, `dispatch_group_create(3)`.
#ifndef __DISPATCH_GROUP__
#define __DISPATCH_GROUP__

#include "queue.h"
#include "time.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DECL(dispatch_group);
__BEGIN_DECLS

/// Makes an empty group.
///
/// - Returns: a new group, with one reference for the caller. It may be released before it is
///   empty.
/// - Source: Apple, Dispatch, `dispatch_group_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_group_t dispatch_group_create(void);

#ifdef __BLOCKS__
/// Submits a block as dispatch_async() does, and counts it until it has run.
///
/// - Source: Apple, Dispatch, `dispatch_group_async`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_async(
    dispatch_group_t group, dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// dispatch_group_async() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_group_async_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL2 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_group_async_f(
    dispatch_group_t group, dispatch_queue_t queue, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t work);

/// Waits until the group is empty.
///
/// - Parameter timeout: when to give up.
/// - Returns: 0; not 0 when the time is up first.
/// - Source: Apple, Dispatch, `dispatch_group_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);

#ifdef __BLOCKS__
/// Submits a block when the group is empty; at once if it is. Several are submitted in the order of
/// these calls.
///
/// - Source: Apple, Dispatch, `dispatch_group_notify`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_notify(
    dispatch_group_t group, dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// dispatch_group_notify() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_group_notify_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL2 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_group_notify_f(
    dispatch_group_t group, dispatch_queue_t queue, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t work);

/// Counts one more piece of work, until dispatch_group_leave().
///
/// Stops when there are too many to count, 2³⁰ or so.
/// - Source: Apple, Dispatch, `dispatch_group_enter`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_enter(dispatch_group_t group);

/// Ends one piece of work that dispatch_group_enter() counted.
///
/// Stops when there is none.
/// - Source: Apple, Dispatch, `dispatch_group_leave`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_group_leave(dispatch_group_t group);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
