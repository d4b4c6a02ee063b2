// SPDX-License-Identifier: Apache-2.0
// Sources: events of the system or of the program, delivered as items on a queue.
//
// A source is created inactive. dispatch_activate() starts it and dispatch_source_cancel() ends it.
// Between the two its event handler runs on its target queue, one call at a time. Events that
// arrive while the handler runs, or while the source is suspended, are merged into one.
//
// Source: Apple, Dispatch, `dispatch_source_create(3)`.
#ifndef __DISPATCH_SOURCE__
#define __DISPATCH_SOURCE__

#include "queue.h"
#include "source_type.h"
#include "time.h"

#include <signal.h>

DISPATCH_ASSUME_NONNULL_BEGIN
DISPATCH_SOURCE_DECL(dispatch_source);
__BEGIN_DECLS

/// Creates an inactive source.
///
/// - Parameters:
///   - type: a DISPATCH_SOURCE_TYPE_….
///   - handle, mask: the object and the events to monitor, as the type defines them.
///   - queue: the queue on which its handlers run; NULL for the default global queue.
/// - Returns: a new source, with one reference for the caller; NULL if the handle or mask is
///   invalid for the type.
/// - Source: Apple, Dispatch, `dispatch_source_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_source_t dispatch_source_create(
    dispatch_source_type_t type, uintptr_t handle, uintptr_t mask,
    dispatch_queue_t _Nullable queue);

// MARK: Handlers

// A handler is a block, or a function that gets the source's context at the time of the call. NULL
// removes the handler. A running handler may set another; the last one set counts.

#ifdef __BLOCKS__
/// Sets the handler that runs after an event.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_event_handler`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_event_handler(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_block_t _Nullable handler);
#endif

/// Does the same as dispatch_source_set_event_handler() with a function.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_event_handler_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_event_handler_f(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_function_t _Nullable handler);

#ifdef __BLOCKS__
/// Sets the handler that runs once, after the last event handler, when the source is cancelled and
/// the system no longer uses its handle. Do not close the descriptor before it runs.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_cancel_handler`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_cancel_handler(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_block_t _Nullable handler);
#endif

/// Does the same as dispatch_source_set_cancel_handler() with a function.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_cancel_handler_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_cancel_handler_f(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_function_t _Nullable handler);

#ifdef __BLOCKS__
/// Sets the handler that runs once, when the source has started to monitor events.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_registration_handler`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_registration_handler(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_block_t _Nullable handler);
#endif

/// Does the same as dispatch_source_set_registration_handler() with a function.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_registration_handler_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_registration_handler_f(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_function_t _Nullable handler);

// MARK: Cancelling

/// Cancels a source. No event handler starts after the cancellation has taken effect; for a caller
/// on the source's own serial queue that is immediately. The cancel handler runs afterwards, once
/// the source is active and not suspended.
///
/// - Source: Apple, Dispatch, `dispatch_source_cancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_source_cancel(dispatch_source_t source);

/// Tests whether a source was cancelled, or has detected that no more events can occur.
///
/// - Returns: nonzero if so.
/// - Source: Apple, Dispatch, `dispatch_source_testcancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
intptr_t dispatch_source_testcancel(dispatch_source_t source);

// MARK: Querying sources

/// Returns the handle that a source was created with.
///
/// - Source: Apple, Dispatch, `dispatch_source_get_handle`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
uintptr_t dispatch_source_get_handle(dispatch_source_t source);

/// Returns the mask that a source was created with.
///
/// - Source: Apple, Dispatch, `dispatch_source_get_mask`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
uintptr_t dispatch_source_get_mask(dispatch_source_t source);

/// Returns the event's data, as the source's type defines it. Call it from the source's event
/// handler; elsewhere the value is undefined.
///
/// - Source: Apple, Dispatch, `dispatch_source_get_data`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
uintptr_t dispatch_source_get_data(dispatch_source_t source);

// MARK: User data

/// Merges a value into the next event of a DATA source. Adding 0 or combining with 0 is no event.
///
/// Stops if the source is of another type.
/// - Source: Apple, Dispatch, `dispatch_source_merge_data`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_source_merge_data(dispatch_source_t source, uintptr_t value);

// MARK: Timers

/// Sets when a timer fires. A firing that an older setting made due and that is not yet delivered
/// is dropped.
///
/// - Parameters:
///   - start: the first firing, and the clock. A time of dispatch_walltime() follows changes of the
///     wall clock. A time in the past fires at once; DISPATCH_TIME_FOREVER never fires.
///   - interval: nanoseconds between firings; DISPATCH_TIME_FOREVER to fire once.
///   - leeway: nanoseconds by which the system may fire late to save wake-ups. A timer that
///     repeats waits half an interval at most.
///
/// Stops if the source is not a timer.
/// - Source: Apple, Dispatch, `dispatch_source_set_timer`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_source_set_timer(
    dispatch_source_t source, dispatch_time_t start, uint64_t interval, uint64_t leeway);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
