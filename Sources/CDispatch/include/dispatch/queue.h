// SPDX-License-Identifier: Apache-2.0
// Queues: their types, and functions that create, look up, retarget and query them.
//
// Source: Apple, Dispatch, `dispatch_queue_create(3)`.
#ifndef __DISPATCH_QUEUE__
#define __DISPATCH_QUEUE__

#include "base.h"
#include "object.h"

// If a <sys/qos.h> is available, the program's own or the one beside this folder, its type is used.
#if defined(__has_include)
#if __has_include(<sys/qos.h>)
#include <sys/qos.h>
#define DISPATCH_HAS_SYS_QOS 1
#endif
#endif

// The reason is in object.h.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#pragma GCC system_header
#endif

DISPATCH_ASSUME_NONNULL_BEGIN

/// A first-in, first-out list of work. A serial queue runs one item at a time. A concurrent queue
/// runs several, each on any free thread.
DISPATCH_DECL(dispatch_queue);
/// A queue whose items run as soon as a thread is available: one for each quality-of-service class.
/// It cannot be suspended, and a barrier on it is an ordinary item.
DISPATCH_DECL_SUBCLASS(dispatch_queue_global, dispatch_queue);
/// A queue that runs one item at a time, in the order of submission.
DISPATCH_DECL_SUBCLASS(dispatch_queue_serial, dispatch_queue);
/// The serial queue of the main thread.
DISPATCH_DECL_SUBCLASS(dispatch_queue_main, dispatch_queue_serial);
/// A queue that starts items in the order of submission and lets them overlap, except barriers.
DISPATCH_DECL_SUBCLASS(dispatch_queue_concurrent, dispatch_queue);
/// The options for creating a queue. See queue_attribute.h.
DISPATCH_DECL(dispatch_queue_attr);

/// A quality-of-service class: 0x21 user-interactive, 0x19 user-initiated, 0x15 default, 0x11
/// utility, 0x09 background, 0 unspecified. `sys/qos.h` names them.
#ifdef DISPATCH_HAS_SYS_QOS
typedef qos_class_t dispatch_qos_class_t;
#else
typedef unsigned int dispatch_qos_class_t;
#endif

__BEGIN_DECLS

// MARK: Existing queues

DISPATCH_EXPORT struct dispatch_queue_s _dispatch_main_q;

/// Returns the main thread's queue. Its items run on the main thread after that thread calls
/// dispatch_main(), or while it runs a run loop that services the queue.
///
/// - Source: Apple, Dispatch, `dispatch_get_main_queue`.
DISPATCH_INLINE DISPATCH_ALWAYS_INLINE DISPATCH_CONST DISPATCH_NOTHROW
dispatch_queue_main_t dispatch_get_main_queue(void) {
  return DISPATCH_GLOBAL_OBJECT(dispatch_queue_main_t, _dispatch_main_q);
}

/// Priorities of global queues from before quality-of-service classes. They stand for
/// user-initiated, default, utility and background.
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN
typedef long dispatch_queue_priority_t;

/// Returns a global concurrent queue.
///
/// - Parameters:
///   - identifier: a dispatch_qos_class_t or a DISPATCH_QUEUE_PRIORITY_….
///   - flags: 0.
/// - Returns: the queue, which is immortal; NULL if there is none for these arguments.
/// - Source: Apple, Dispatch, `dispatch_get_global_queue`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_global_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);

/// Runs the main queue's items on the calling thread. Never returns.
///
/// Stops if a thread other than the main thread calls.
/// - Source: Apple, Dispatch, `dispatch_main`.
DISPATCH_EXPORT DISPATCH_NOTHROW DISPATCH_NORETURN
void dispatch_main(void);

// MARK: Creating queues

/// As a target: the global queue of the object's own class.
#define DISPATCH_TARGET_QUEUE_DEFAULT NULL

/// Creates a queue that sends its work to another queue.
///
/// - Parameters:
///   - label: a name for messages, dumps and debuggers, which is copied; NULL for none.
///   - attribute: DISPATCH_QUEUE_SERIAL, DISPATCH_QUEUE_CONCURRENT, or an attribute made from
///     these.
///   - target: the queue that the items run on, which is retained. A chain of targets ends at a
///     global queue or the main queue, and must not lead back to this queue.
///     DISPATCH_TARGET_QUEUE_DEFAULT for the global queue of the attribute's class.
/// - Returns: a new queue, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_queue_create_with_target`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_t dispatch_queue_create_with_target(
    const char *_Nullable label, dispatch_queue_attr_t _Nullable attribute,
    dispatch_queue_t _Nullable target);

/// Creates a queue with the default target.
///
/// - Parameters:
///   - label: a name for messages, dumps and debuggers, which is copied; NULL for none.
///   - attribute: DISPATCH_QUEUE_SERIAL, DISPATCH_QUEUE_CONCURRENT, or an attribute made from
///     these.
/// - Returns: a new queue, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_queue_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_t dispatch_queue_create(
    const char *_Nullable label, dispatch_queue_attr_t _Nullable attribute);

/// Sets the queue to which an object sends later work. Work submitted before the call still runs on
/// the previous target. An object's finalizer also runs on its target.
///
/// - Parameters:
///   - object: a queue, source, channel, group, semaphore or data object.
///   - target: the queue, which is retained; DISPATCH_TARGET_QUEUE_DEFAULT for the default one.
///
/// Does nothing to global queues and the main queue. Stops if the targets would form a cycle.
/// - Source: Apple, Dispatch, `dispatch_set_target_queue`.
DISPATCH_EXPORT DISPATCH_NOTHROW
void dispatch_set_target_queue(dispatch_object_t object, dispatch_queue_t _Nullable target);

// MARK: Querying queues

/// As a queue: the queue whose item is running on the calling thread.
#define DISPATCH_CURRENT_QUEUE_LABEL NULL

/// Returns the label of a queue.
///
/// - Parameter queue: the queue, or DISPATCH_CURRENT_QUEUE_LABEL.
/// - Returns: a string that lives as long as the queue; an empty one if the queue has no label.
/// - Source: Apple, Dispatch, `dispatch_queue_get_label`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
const char *dispatch_queue_get_label(dispatch_queue_t _Nullable queue);

/// Returns the class set on a queue: its own class, or its class floor. Classes of its targets are
/// not considered.
///
/// - Parameter relative_priority: receives the priority within the class, 0 … -15; NULL to ignore
///   it.
/// - Returns: the class; 0 (unspecified) if none was set.
/// - Source: Apple, Dispatch, `dispatch_queue_get_qos_class`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_qos_class_t dispatch_queue_get_qos_class(
    dispatch_queue_t queue, int *_Nullable relative_priority);

/// Returns the queue whose item is running on the calling thread. The result cannot tell whether a
/// wait would deadlock, because the thread may also hold other queues of the target chain. Use
/// dispatch_assert_queue() or queue-specific data instead.
///
/// - Returns: the queue, without a reference. Outside of any item: the main queue on the main
///   thread, the default global queue on other threads.
/// - Source: Apple, Dispatch, `dispatch_get_current_queue`, deprecated there.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_t dispatch_get_current_queue(void);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
