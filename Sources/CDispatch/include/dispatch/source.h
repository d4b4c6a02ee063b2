// Sources: events of the system, and of the program itself, as items on a queue.
//
// A source is made inactive. dispatch_activate() starts it, dispatch_source_cancel() ends it; in
// between its event handler runs on its target queue, never twice at once. Events that come
// meanwhile, or while the source is suspended, are merged into one.
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

/// Makes a source, inactive.
///
/// - Parameters:
///   - type: a DISPATCH_SOURCE_TYPE_….
///   - handle, mask: what to look at and what for, as the type says.
///   - queue: where its handlers run; NULL for the default global queue.
/// - Returns: a new source, with one reference for the caller; NULL when handle or mask mean
///   nothing to the type.
/// - Source: Apple, Dispatch, `dispatch_source_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_source_t dispatch_source_create(
    dispatch_source_type_t type, uintptr_t handle, uintptr_t mask,
    dispatch_queue_t _Nullable queue);

// MARK: Handlers

// Each is a block, or a function that is called with the source's context as it is at that moment.
// NULL takes the handler away. A handler that is running may set another; the last one set counts.

#ifdef __BLOCKS__
/// Sets what runs when there was an event.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_event_handler`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_event_handler(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_block_t _Nullable handler);
#endif

/// dispatch_source_set_event_handler() with a function.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_event_handler_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_event_handler_f(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_function_t _Nullable handler);

#ifdef __BLOCKS__
/// Sets what runs once, after the last event handler, when the source is cancelled and the system
/// is through with its handle. Only then may a descriptor be closed.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_cancel_handler`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_cancel_handler(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_block_t _Nullable handler);
#endif

/// dispatch_source_set_cancel_handler() with a function.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_cancel_handler_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_cancel_handler_f(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_function_t _Nullable handler);

#ifdef __BLOCKS__
/// Sets what runs once, when the source has begun to look for events.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_registration_handler`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_registration_handler(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_block_t _Nullable handler);
#endif

/// dispatch_source_set_registration_handler() with a function.
///
/// - Source: Apple, Dispatch, `dispatch_source_set_registration_handler_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_source_set_registration_handler_f(
    dispatch_source_t source, DISPATCH_SENDABLE dispatch_function_t _Nullable handler);

// MARK: Cancelling

/// Ends a source. No event handler starts once this has taken effect, which for a caller on the
/// source's own serial queue is at once. The cancel handler runs after that, when the source is
/// active and not suspended.
///
/// - Source: Apple, Dispatch, `dispatch_source_cancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_source_cancel(dispatch_source_t source);

/// Whether a source was cancelled, or found that there can be no more events.
///
/// - Returns: not 0 if it was.
/// - Source: Apple, Dispatch, `dispatch_source_testcancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
intptr_t dispatch_source_testcancel(dispatch_source_t source);

// MARK: Asking a source

/// The handle that a source was made with.
///
/// - Source: Apple, Dispatch, `dispatch_source_get_handle`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
uintptr_t dispatch_source_get_handle(dispatch_source_t source);

/// The mask that a source was made with.
///
/// - Source: Apple, Dispatch, `dispatch_source_get_mask`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
uintptr_t dispatch_source_get_mask(dispatch_source_t source);

/// What the event was, as the source's type says. To be called by its event handler; elsewhere the
/// value means nothing.
///
/// - Source: Apple, Dispatch, `dispatch_source_get_data`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
uintptr_t dispatch_source_get_data(dispatch_source_t source);

// MARK: Events of one's own

/// Merges a value into what the next event of a DATA source tells. Adding or or-ing 0 is no event.
///
/// Stops when the source is of another type.
/// - Source: Apple, Dispatch, `dispatch_source_merge_data`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_source_merge_data(dispatch_source_t source, uintptr_t value);

// MARK: Timers

/// Sets when a timer fires. What an older setting made due and is not yet told is forgotten.
///
/// - Parameters:
///   - start: the first time, and the clock: one of dispatch_walltime() follows when the clock is
///     set. A time in the past fires at once; DISPATCH_TIME_FOREVER never does.
///   - interval: nanoseconds between one time and the next; DISPATCH_TIME_FOREVER to fire once.
///   - leeway: nanoseconds by which the system may be late, so that it wakes less often.
///
/// Stops when the source is no timer.
/// - Source: Apple, Dispatch, `dispatch_source_set_timer`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_source_set_timer(
    dispatch_source_t source, dispatch_time_t start, uint64_t interval, uint64_t leeway);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
