// Which queue is this? Data that belongs to a queue, and assertions.
//
// Source: Apple, Dispatch, `dispatch_queue_set_specific(3)`, `dispatch_assert_queue`.
#ifndef GRANDCENTRAL_DISPATCH_QUEUE_SPECIFIC
#define GRANDCENTRAL_DISPATCH_QUEUE_SPECIFIC

#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

// MARK: Data of a queue

/// Attaches a pointer to a queue, under a key.
///
/// - Parameters:
///   - key: an address that is the client's own, such as that of a static variable. Compared, not
///     read. NULL is no key: nothing happens.
///   - context: what to attach; NULL takes away what is there.
///   - destructor: called with the old pointer, on a global queue, when another one takes its place
///     or the queue is disposed of. NULL for none.
///
/// Does nothing to a global queue.
/// - Source: Apple, Dispatch, `dispatch_queue_set_specific`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
void dispatch_queue_set_specific(
    dispatch_queue_t queue, const void *key, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t _Nullable destructor);

/// What a queue itself has under a key. Its targets are not asked.
///
/// - Returns: the pointer, or NULL.
/// - Source: Apple, Dispatch, `dispatch_queue_get_specific`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_WARN_RESULT DISPATCH_NOTHROW
void *_Nullable dispatch_queue_get_specific(dispatch_queue_t queue, const void *key);

/// What the current queue has under a key or, if it has nothing, the nearest of its targets.
///
/// - Returns: the pointer; NULL outside of any queue's item.
/// - Source: Apple, Dispatch, `dispatch_get_specific`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
void *_Nullable dispatch_get_specific(const void *key);

// MARK: Assertions

/// Stops unless an item of the queue, or of one that targets it, is running here. The message names
/// the queue and where the caller is instead.
///
/// - Source: Apple, Dispatch, `dispatch_assert_queue`.
DISPATCH_EXPORT DISPATCH_NONNULL1
void dispatch_assert_queue(dispatch_queue_t queue);

/// Stops unless such an item is running here, and as the only one: on a serial queue, or as a
/// barrier.
///
/// - Source: Apple, Dispatch, `dispatch_assert_queue_barrier`.
DISPATCH_EXPORT DISPATCH_NONNULL1
void dispatch_assert_queue_barrier(dispatch_queue_t queue);

/// Stops if an item of the queue, or of one that targets it, is running here.
///
/// - Source: Apple, Dispatch, `dispatch_assert_queue_not`.
DISPATCH_EXPORT DISPATCH_NONNULL1
void dispatch_assert_queue_not(dispatch_queue_t queue);

/// The assertions in builds without NDEBUG; nothing in those with it, as assert(3) does.
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
