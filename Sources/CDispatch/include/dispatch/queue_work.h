// SPDX-License-Identifier: Apache-2.0
// Submitting work: asynchronously, synchronously, as a barrier, after a delay, and in loops.
//
// A submitted block is copied, and released after it has run. The queue is retained until then.
//
// Source: Apple, Dispatch, `dispatch_async(3)`, `dispatch_after(3)`, `dispatch_apply(3)`.
#ifndef GRANDCENTRAL_DISPATCH_QUEUE_WORK
#define GRANDCENTRAL_DISPATCH_QUEUE_WORK

#include "queue.h"
#include "time.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

// MARK: Asynchronous

#ifdef __BLOCKS__
/// Submits a block and returns immediately.
///
/// - Parameter block: runs once, on a thread of the queue. It inherits the caller's
///   quality-of-service class if the queue has none.
/// - Source: Apple, Dispatch, `dispatch_async`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_async(dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// Does the same as dispatch_async() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_async_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_async_f(
    dispatch_queue_t queue, void *_Nullable context, DISPATCH_SENDABLE dispatch_function_t work);

// MARK: Synchronous

#ifdef __BLOCKS__
/// Submits a block and waits until it has run; on a serial queue, after all earlier items. It runs
/// on the calling thread, unless the queue belongs to the main thread.
///
/// Stops if the caller already holds a serial queue or runs a barrier of a concurrent one, or if
/// waiting would close a deadlock cycle.
/// - Source: Apple, Dispatch, `dispatch_sync`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_sync(dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// Does the same as dispatch_sync() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_sync_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_sync_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

#ifdef __BLOCKS__
/// Submits a block and waits until it has run. If a thread is draining the queue, that thread runs
/// the block; dispatch_sync() would run it on the calling thread.
///
/// Stops in the same cases as dispatch_sync().
/// - Source: Apple, Dispatch, `dispatch_async_and_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_async_and_wait(dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// Does the same as dispatch_async_and_wait() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_async_and_wait_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_async_and_wait_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

// MARK: Barriers

// On a concurrent queue that the program created, a barrier starts when all earlier items have
// ended, and later items start when the barrier has ended. On every other queue a barrier is an
// ordinary item.

#ifdef __BLOCKS__
/// Submits a barrier and returns immediately.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_barrier_async(dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// Does the same as dispatch_barrier_async() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_barrier_async_f(
    dispatch_queue_t queue, void *_Nullable context, DISPATCH_SENDABLE dispatch_function_t work);

#ifdef __BLOCKS__
/// Submits a barrier and waits until it has run.
///
/// Stops if the caller already holds the queue, or if waiting would close a deadlock cycle.
/// - Source: Apple, Dispatch, `dispatch_barrier_sync`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_barrier_sync(dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// Does the same as dispatch_barrier_sync() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_sync_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_barrier_sync_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

#ifdef __BLOCKS__
/// Does the same as dispatch_async_and_wait(), as a barrier.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async_and_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_barrier_async_and_wait(
    dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// Does the same as dispatch_barrier_async_and_wait() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async_and_wait_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_barrier_async_and_wait_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

// MARK: After a delay

#ifdef __BLOCKS__
/// Submits a block at a point in time. Returns immediately.
///
/// - Parameter when: a value from dispatch_time() or dispatch_walltime(). A time in the past
///   submits at once. DISPATCH_TIME_FOREVER never submits.
/// - Source: Apple, Dispatch, `dispatch_after`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_after(
    dispatch_time_t when, dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// Does the same as dispatch_after() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_after_f`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_after_f(
    dispatch_time_t when, dispatch_queue_t queue, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t work);

// MARK: Parallel loops

/// As the queue of dispatch_apply(): the library chooses the global queue.
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)
#define DISPATCH_APPLY_AUTO_AVAILABLE 1
#define DISPATCH_APPLY_QUEUE_ARG_NULLABILITY _Nullable

#ifdef __BLOCKS__
/// Calls a block once for each number below `iterations`, on as many threads as there are usable
/// CPUs, and waits until all calls have returned. On a serial queue the calls run one after the
/// other, in order.
///
/// - Parameters:
///   - iterations: the number of calls; 0 does nothing.
///   - queue: the queue that supplies further threads beside the calling one; DISPATCH_APPLY_AUTO
///     unless it matters.
///   - block: called with the number.
///
/// Stops where dispatch_sync() on the queue would.
/// - Source: Apple, Dispatch, `dispatch_apply`.
DISPATCH_EXPORT DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_apply(
    size_t iterations, dispatch_queue_t _Nullable queue,
    DISPATCH_NOESCAPE void (^block)(size_t iteration));
#endif

/// Does the same as dispatch_apply() with a function, called with `context` and the number.
///
/// - Source: Apple, Dispatch, `dispatch_apply_f`.
DISPATCH_EXPORT DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_apply_f(
    size_t iterations, dispatch_queue_t _Nullable queue, void *_Nullable context,
    void (*work)(void *_Nullable context, size_t iteration));

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
