// Blocks as objects: work that can be waited for, cancelled and given a class of quality of
// service.
//
// Source: Apple, Dispatch, `dispatch_block_create(3)`.
#ifndef __DISPATCH_BLOCK__
#define __DISPATCH_BLOCK__

#include "queue.h"
#include "time.h"

#ifdef __BLOCKS__

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

/// How a block object behaves. Combine with |; C++ needs a cast then.
DISPATCH_ENUM(dispatch_block_flags, unsigned long,
  /// It is a barrier when it is submitted to a concurrent queue.
  DISPATCH_BLOCK_BARRIER = 0x1,
  /// It takes nothing from where it is made or submitted.
  DISPATCH_BLOCK_DETACHED = 0x2,
  /// It takes class and priority from where it is made, not from where it is submitted.
  DISPATCH_BLOCK_ASSIGN_CURRENT = 0x4,
  /// It has no class of its own; the queue's counts.
  DISPATCH_BLOCK_NO_QOS_CLASS = 0x8,
  /// The class of the queue, or of the submitter, wins over its own.
  DISPATCH_BLOCK_INHERIT_QOS_CLASS = 0x10,
  /// Its own class wins over the queue's, where that is not lower for it.
  DISPATCH_BLOCK_ENFORCE_QOS_CLASS = 0x20,
);

/// Makes a block object around a block. It is a block itself: call it, or submit it, at most once
/// if it is to be waited for.
///
/// - Returns: a new block, for the caller to release with Block_release(); NULL for unknown flags.
/// - Source: Apple, Dispatch, `dispatch_block_create`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_RETURNS_RETAINED_BLOCK DISPATCH_WARN_RESULT
DISPATCH_NOTHROW
dispatch_block_t dispatch_block_create(
    dispatch_block_flags_t flags, DISPATCH_SENDABLE dispatch_block_t block);

/// dispatch_block_create() with a class of quality of service.
///
/// - Parameters:
///   - qos_class: the class; 0 for none.
///   - relative_priority: 0 … -15, the place within the class.
/// - Returns: a new block, for the caller to release with Block_release(); NULL for unknown flags
///   or a class or priority out of range.
/// - Source: Apple, Dispatch, `dispatch_block_create_with_qos_class`.
DISPATCH_EXPORT DISPATCH_NONNULL4 DISPATCH_RETURNS_RETAINED_BLOCK DISPATCH_WARN_RESULT
DISPATCH_NOTHROW
dispatch_block_t dispatch_block_create_with_qos_class(
    dispatch_block_flags_t flags, dispatch_qos_class_t qos_class, int relative_priority,
    DISPATCH_SENDABLE dispatch_block_t block);

/// Runs a block here and now, as a block object with these flags would: what making one, calling it
/// and releasing it does, without an allocation.
///
/// - Source: Apple, Dispatch, `dispatch_block_perform`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NOTHROW
void dispatch_block_perform(
    dispatch_block_flags_t flags, DISPATCH_NOESCAPE dispatch_block_t block);

/// Waits until a block object has run, or was cancelled and passed over. The thread that runs it,
/// or the queue that it waits on, is given the caller's class meanwhile.
///
/// - Parameters:
///   - block: a block object that is submitted or run once, and waited for by one thread at most
///     once.
///   - timeout: when to give up.
/// - Returns: 0; not 0 when the time is up first, and then one may wait again.
///
/// Stops when the block is no block object, was waited for already, or ran more than once.
/// - Source: Apple, Dispatch, `dispatch_block_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
intptr_t dispatch_block_wait(dispatch_block_t block, dispatch_time_t timeout);

/// Submits another block when a block object has run, or was cancelled and passed over; at once if
/// that is past.
///
/// - Parameters:
///   - block: a block object that is submitted or run once.
///   - queue: where `notification` is submitted.
///
/// Stops when the block is no block object, or ran more than once.
/// - Source: Apple, Dispatch, `dispatch_block_notify`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_block_notify(
    dispatch_block_t block, dispatch_queue_t queue,
    DISPATCH_SENDABLE dispatch_block_t notification);

/// Makes a block object do nothing from now on when it is run. One that is running is not
/// disturbed, but can ask with dispatch_block_testcancel(). What the block holds is released when
/// the object is.
///
/// Stops when the block is no block object.
/// - Source: Apple, Dispatch, `dispatch_block_cancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_block_cancel(dispatch_block_t block);

/// Whether a block object was cancelled.
///
/// - Returns: not 0 if it was.
///
/// Stops when the block is no block object.
/// - Source: Apple, Dispatch, `dispatch_block_testcancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
intptr_t dispatch_block_testcancel(dispatch_block_t block);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif

#endif
