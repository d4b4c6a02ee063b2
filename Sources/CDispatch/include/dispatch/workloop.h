// Workloops. On Linux a workloop is a serial queue that runs its items in the order of submission;
// an urgent item raises the items before it.
//
// Source: Apple, Dispatch, `dispatch/workloop.h`.
#ifndef __DISPATCH_WORKLOOP__
#define __DISPATCH_WORKLOOP__

#include "queue.h"
#include "queue_attribute.h"

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_DECL_SUBCLASS(dispatch_workloop, dispatch_queue);
__BEGIN_DECLS

/// Creates an active workloop.
///
/// - Parameter label: a name for messages, dumps and debuggers, which is copied; NULL for none.
/// - Returns: a new workloop, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_workloop_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_workloop_t dispatch_workloop_create(const char *_Nullable label);

/// Creates a workloop that runs nothing before dispatch_activate(). It can be configured until
/// then.
///
/// - Parameter label: a name for messages, dumps and debuggers, which is copied; NULL for none.
/// - Returns: a new workloop, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_workloop_create_inactive`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_workloop_t dispatch_workloop_create_inactive(const char *_Nullable label);

/// Sets when an inactive workloop drains its autorelease pool. Without effect on Linux.
///
/// - Source: Apple, Dispatch, `dispatch_workloop_set_autorelease_frequency`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_workloop_set_autorelease_frequency(
    dispatch_workloop_t workloop, dispatch_autorelease_frequency_t frequency);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
