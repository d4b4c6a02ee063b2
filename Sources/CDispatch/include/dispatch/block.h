// SPDX-License-Identifier: Apache-2.0
// Block objects: blocks that can be waited for, observed, cancelled and given a quality-of-service
// class.
//
// Source: Apple, Dispatch, `dispatch_block_create(3)`.
#ifndef __DISPATCH_BLOCK__
#define __DISPATCH_BLOCK__

#include "queue.h"
#include "time.h"

#ifdef __BLOCKS__

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

/// Flags of a block object. Combine them with |; C++ needs a cast of the result.
DISPATCH_ENUM(dispatch_block_flags, unsigned long,
  /// The block object is a barrier when it is submitted to a concurrent queue.
  DISPATCH_BLOCK_BARRIER = 0x1,
  /// Inherits nothing from where it is created or submitted.
  DISPATCH_BLOCK_DETACHED = 0x2,
  /// Takes class and priority from where it is created, not from where it is submitted.
  DISPATCH_BLOCK_ASSIGN_CURRENT = 0x4,
  /// Has no class of its own; the queue's class counts.
  DISPATCH_BLOCK_NO_QOS_CLASS = 0x8,
  /// Prefers the class of the queue, or of the submitter, over its own.
  DISPATCH_BLOCK_INHERIT_QOS_CLASS = 0x10,
  /// Prefers its own class over the queue's, unless its own is lower.
  DISPATCH_BLOCK_ENFORCE_QOS_CLASS = 0x20,
);

/// Creates a block object from a block. It is itself a block that can be called or submitted. If it
/// is waited for, it must run at most once.
///
/// - Returns: a new block, which the caller releases with Block_release(); NULL for unknown flags.
/// - Source: Apple, Dispatch, `dispatch_block_create`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_RETURNS_RETAINED_BLOCK DISPATCH_WARN_RESULT
DISPATCH_NOTHROW
dispatch_block_t dispatch_block_create(
    dispatch_block_flags_t flags, DISPATCH_SENDABLE dispatch_block_t block);

/// Does the same as dispatch_block_create(), with a quality-of-service class.
///
/// - Parameters:
///   - qos_class: the class; 0 for none.
///   - relative_priority: the priority within the class, 0 … -15.
/// - Returns: a new block, which the caller releases with Block_release(); NULL for unknown flags
///   or a class or priority out of range.
/// - Source: Apple, Dispatch, `dispatch_block_create_with_qos_class`.
DISPATCH_EXPORT DISPATCH_NONNULL4 DISPATCH_RETURNS_RETAINED_BLOCK DISPATCH_WARN_RESULT
DISPATCH_NOTHROW
dispatch_block_t dispatch_block_create_with_qos_class(
    dispatch_block_flags_t flags, dispatch_qos_class_t qos_class, int relative_priority,
    DISPATCH_SENDABLE dispatch_block_t block);

/// Runs a block on the calling thread as a block object with these flags. Equals creating, calling
/// and releasing one, without an allocation.
///
/// - Source: Apple, Dispatch, `dispatch_block_perform`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NOTHROW
void dispatch_block_perform(
    dispatch_block_flags_t flags, DISPATCH_NOESCAPE dispatch_block_t block);

/// Waits until a block object has run, or was cancelled and skipped. The thread that runs it, or
/// the queue that it waits on, gets the caller's class until then.
///
/// - Parameters:
///   - block: a block object that runs at most once, and that at most one thread waits for, once.
///   - timeout: the point in time at which the wait ends.
/// - Returns: 0; nonzero after the timeout, and then the caller may wait again.
///
/// Stops if the block is not a block object, was already waited for, or ran more than once.
/// - Source: Apple, Dispatch, `dispatch_block_wait`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NOTHROW
intptr_t dispatch_block_wait(dispatch_block_t block, dispatch_time_t timeout);

/// Submits another block after a block object has run, or was cancelled and skipped. Submits it at
/// once if that has already happened.
///
/// - Parameters:
///   - block: a block object that runs at most once.
///   - queue: the queue to which `notification` is submitted.
///
/// Stops if the block is not a block object, or ran more than once.
/// - Source: Apple, Dispatch, `dispatch_block_notify`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_block_notify(
    dispatch_block_t block, dispatch_queue_t queue,
    DISPATCH_SENDABLE dispatch_block_t notification);

/// Cancels a block object: executions that start later do nothing. A running execution continues,
/// and can check dispatch_block_testcancel(). What the block captures is released when the block
/// object is.
///
/// Stops if the block is not a block object.
/// - Source: Apple, Dispatch, `dispatch_block_cancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_block_cancel(dispatch_block_t block);

/// Tests whether a block object was cancelled.
///
/// - Returns: nonzero if so.
///
/// Stops if the block is not a block object.
/// - Source: Apple, Dispatch, `dispatch_block_testcancel`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
intptr_t dispatch_block_testcancel(dispatch_block_t block);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif

#endif
