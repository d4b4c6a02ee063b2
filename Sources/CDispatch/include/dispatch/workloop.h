// SPDX-License-Identifier: Apache-2.0
// Workloops. A workloop runs one item at a time, the most urgent class first, and items of one
// class in the order of submission. After each item it compares what waits in it with what waits in
// the queues that target it; each of those keeps its own order. dispatch_sync() may enter a
// workloop.
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
