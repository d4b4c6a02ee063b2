// SPDX-License-Identifier: Apache-2.0
// Queue-specific data, and assertions about the current queue.
//
// Source: Apple, Dispatch, `dispatch_queue_set_specific(3)`, `dispatch_assert_queue`.
#ifndef GRANDCENTRAL_DISPATCH_QUEUE_SPECIFIC
#define GRANDCENTRAL_DISPATCH_QUEUE_SPECIFIC

#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

// MARK: Queue-specific data

/// Attaches a pointer to a queue, under a key.
///
/// - Parameters:
///   - key: an address that belongs to the client, such as that of a static variable. It is
///     compared, never dereferenced. NULL is not a key: the call does nothing.
///   - context: the pointer to attach; NULL removes the current one.
///   - destructor: called with the old pointer, on a global queue, when the pointer is replaced or
///     the queue is disposed of; NULL for none.
///
/// Does nothing to a global queue.
/// - Source: Apple, Dispatch, `dispatch_queue_set_specific`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_queue_set_specific(
    dispatch_queue_t queue, const void *key, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t _Nullable destructor);

/// Returns the pointer that a queue itself has under a key, without asking its targets.
///
/// - Returns: the pointer, or NULL.
/// - Source: Apple, Dispatch, `dispatch_queue_get_specific`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_WARN_RESULT DISPATCH_NOTHROW
void *_Nullable dispatch_queue_get_specific(dispatch_queue_t queue, const void *key);

/// Returns the pointer that the current queue has under a key; if it has none, that of its nearest
/// target with one.
///
/// - Returns: the pointer; NULL outside of any queue's item.
/// - Source: Apple, Dispatch, `dispatch_get_specific`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
void *_Nullable dispatch_get_specific(const void *key);

// MARK: Assertions

/// Asserts that the calling thread runs an item of the queue, or of a queue that targets it.
///
/// Stops otherwise; the message names the queue and the caller's actual queue.
/// - Source: Apple, Dispatch, `dispatch_assert_queue`.
DISPATCH_EXPORT DISPATCH_NONNULL1
void dispatch_assert_queue(dispatch_queue_t queue);

/// Asserts that the calling thread runs such an item exclusively: on a serial queue, or as a
/// barrier.
///
/// Stops otherwise.
/// - Source: Apple, Dispatch, `dispatch_assert_queue_barrier`.
DISPATCH_EXPORT DISPATCH_NONNULL1
void dispatch_assert_queue_barrier(dispatch_queue_t queue);

/// Asserts that the calling thread runs no item of the queue, nor of a queue that targets it.
///
/// Stops otherwise.
/// - Source: Apple, Dispatch, `dispatch_assert_queue_not`.
DISPATCH_EXPORT DISPATCH_NONNULL1
void dispatch_assert_queue_not(dispatch_queue_t queue);

/// The assertions for debug builds. With NDEBUG they do nothing, as assert(3).
#ifdef NDEBUG
#define dispatch_assert_queue_debug(queue) ((void)(0 && (queue)))
#define dispatch_assert_queue_barrier_debug(queue) ((void)(0 && (queue)))
#define dispatch_assert_queue_not_debug(queue) ((void)(0 && (queue)))
#else
#define dispatch_assert_queue_debug(queue) dispatch_assert_queue(queue)
#define dispatch_assert_queue_barrier_debug(queue) dispatch_assert_queue_barrier(queue)
#define dispatch_assert_queue_not_debug(queue) dispatch_assert_queue_not(queue)
#endif

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
