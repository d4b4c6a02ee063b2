// Submitting work: now, later, and many times; with and without waiting; as a barrier.
//
// Work submitted in a block is copied and released after it ran; the queue is retained meanwhile.
//
// Source: Apple, Dispatch, `dispatch_async(3)`, `dispatch_after(3)`, `dispatch_apply(3)`.
#ifndef GRANDCENTRAL_DISPATCH_QUEUE_WORK
#define GRANDCENTRAL_DISPATCH_QUEUE_WORK

#include "queue.h"
#include "time.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

// MARK: Without waiting

#ifdef __BLOCKS__
/// Submits a block and returns at once.
///
/// - Parameter block: runs once, on a thread of the queue. It inherits the caller's class of
///   quality of service where the queue has none.
/// - Source: Apple, Dispatch, `dispatch_async`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_async(dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// dispatch_async() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_async_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_async_f(
    dispatch_queue_t queue, void *_Nullable context, DISPATCH_SENDABLE dispatch_function_t work);

// MARK: And waiting

#ifdef __BLOCKS__
/// Submits a block and returns when it has run, after all that the queue had before. It runs on the
/// calling thread, unless the queue belongs to the main thread.
///
/// Stops when the caller, or whom it waits for in turn, already holds the queue: it would wait for
/// ever.
/// - Source: Apple, Dispatch, `dispatch_sync`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_sync(dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// dispatch_sync() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_sync_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_sync_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

#ifdef __BLOCKS__
/// Submits a block and returns when it has run. Where dispatch_sync() runs it on the calling
/// thread, this one leaves it to the thread that is draining the queue, if there is one.
///
/// Stops when the caller already holds the queue.
/// - Source: Apple, Dispatch, `dispatch_async_and_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_async_and_wait(dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// dispatch_async_and_wait() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_async_and_wait_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_async_and_wait_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

// MARK: Barriers

// On a concurrent queue of one's own a barrier begins when all before it has ended, and all after
// it begins when it has ended. On every other queue a barrier is ordinary work.

#ifdef __BLOCKS__
/// Submits a barrier and returns at once.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_barrier_async(dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// dispatch_barrier_async() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_barrier_async_f(
    dispatch_queue_t queue, void *_Nullable context, DISPATCH_SENDABLE dispatch_function_t work);

#ifdef __BLOCKS__
/// Submits a barrier and returns when it has run.
///
/// Stops when the caller, or whom it waits for in turn, already holds the queue.
/// - Source: Apple, Dispatch, `dispatch_barrier_sync`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_barrier_sync(dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// dispatch_barrier_sync() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_sync_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_barrier_sync_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

#ifdef __BLOCKS__
/// dispatch_async_and_wait() as a barrier.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async_and_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_barrier_async_and_wait(
    dispatch_queue_t queue, DISPATCH_NOESCAPE dispatch_block_t block);
#endif

/// dispatch_barrier_async_and_wait() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_barrier_async_and_wait_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_barrier_async_and_wait_f(
    dispatch_queue_t queue, void *_Nullable context, dispatch_function_t work);

// MARK: Later

#ifdef __BLOCKS__
/// Submits a block at a point in time, and returns at once.
///
/// - Parameter when: as dispatch_time() or dispatch_walltime() makes it. One in the past submits at
///   once; DISPATCH_TIME_FOREVER never does.
/// - Source: Apple, Dispatch, `dispatch_after`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_after(
    dispatch_time_t when, dispatch_queue_t queue, DISPATCH_SENDABLE dispatch_block_t block);
#endif

/// dispatch_after() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_after_f`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_after_f(
    dispatch_time_t when, dispatch_queue_t queue, void *_Nullable context,
    DISPATCH_SENDABLE dispatch_function_t work);

// MARK: Many times

/// As the queue of dispatch_apply(): the global queue that suits the calling thread best.
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)
#define DISPATCH_APPLY_AUTO_AVAILABLE 1
#define DISPATCH_APPLY_QUEUE_ARG_NULLABILITY _Nullable

#ifdef __BLOCKS__
/// Calls a block once for each number below `iterations`, on as many threads as there are CPUs to
/// use, and returns when all calls have. On a serial queue the calls come one after the other, in
/// order.
///
/// - Parameters:
///   - iterations: how many calls; 0 does nothing.
///   - queue: whose threads help the calling one; DISPATCH_APPLY_AUTO unless it matters.
///   - block: called with the number.
///
/// Stops where dispatch_sync() on the queue would.
/// - Source: Apple, Dispatch, `dispatch_apply`.
DISPATCH_EXPORT DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_apply(
    size_t iterations, dispatch_queue_t _Nullable queue,
    DISPATCH_NOESCAPE void (^block)(size_t iteration));
#endif

/// dispatch_apply() with a function, called with `context` and the number.
///
/// - Source: Apple, Dispatch, `dispatch_apply_f`.
DISPATCH_EXPORT DISPATCH_NONNULL4 DISPATCH_NOTHROW
void dispatch_apply_f(
    size_t iterations, dispatch_queue_t _Nullable queue, void *_Nullable context,
    void (*work)(void *_Nullable context, size_t iteration));

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
