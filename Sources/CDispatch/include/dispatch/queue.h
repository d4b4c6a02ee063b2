// Queues: what there is, how to make one, what it is called and where its work goes.
//
// Source: Apple, Dispatch, `dispatch_queue_create(3)`.
#ifndef __DISPATCH_QUEUE__
#define __DISPATCH_QUEUE__

#include "base.h"
#include "object.h"

// A program that brings this header, its own or the one beside this folder, gets its type.
#if defined(__has_include)
#if __has_include(<sys/qos.h>)
#include <sys/qos.h>
#define DISPATCH_HAS_SYS_QOS 1
#endif
#endif

// As in object.h.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#pragma GCC system_header
#endif

DISPATCH_ASSUME_NONNULL_BEGIN

/// A first-in first-out list of work. A serial queue runs one item at a time, a concurrent one
/// several, each on whichever thread is free.
DISPATCH_DECL(dispatch_queue);
/// A queue whose items run as soon as there is a thread: one for each class of quality of service.
/// It is never suspended, and a barrier on it is ordinary work.
DISPATCH_DECL_SUBCLASS(dispatch_queue_global, dispatch_queue);
/// A queue that runs one item at a time, in the order of submission.
DISPATCH_DECL_SUBCLASS(dispatch_queue_serial, dispatch_queue);
/// The serial queue of the main thread.
DISPATCH_DECL_SUBCLASS(dispatch_queue_main, dispatch_queue_serial);
/// A queue that starts items in the order of submission and lets them overlap, barriers excepted.
DISPATCH_DECL_SUBCLASS(dispatch_queue_concurrent, dispatch_queue);
/// How a queue is to be made. See queue_attribute.h.
DISPATCH_DECL(dispatch_queue_attr);

/// A class of quality of service: 0x21 user-interactive, 0x19 user-initiated, 0x15 default, 0x11
/// utility,
/// 0x09 background, 0 unspecified. `sys/qos.h` has names for them.
#ifdef DISPATCH_HAS_SYS_QOS
typedef qos_class_t dispatch_qos_class_t;
#else
typedef unsigned int dispatch_qos_class_t;
#endif

__BEGIN_DECLS

// MARK: Queues that are there

DISPATCH_EXPORT struct dispatch_queue_s _dispatch_main_q;

/// The main thread's queue. Its items run there, once the main thread calls dispatch_main() or a
/// run loop that takes care of them.
///
/// - Source: Apple, Dispatch, `dispatch_get_main_queue`.
DISPATCH_INLINE DISPATCH_ALWAYS_INLINE DISPATCH_CONST DISPATCH_NOTHROW
dispatch_queue_main_t dispatch_get_main_queue(void) {
  return DISPATCH_GLOBAL_OBJECT(dispatch_queue_main_t, _dispatch_main_q);
}

/// Priorities of global queues from before there were classes: user-initiated, default, utility and
/// background.
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN
typedef long dispatch_queue_priority_t;

/// A global concurrent queue.
///
/// - Parameters:
///   - identifier: a dispatch_qos_class_t or a DISPATCH_QUEUE_PRIORITY_….
///   - flags: 0.
/// - Returns: the queue, which lives for ever; NULL when there is none for these arguments.
/// - Source: Apple, Dispatch, `dispatch_get_global_queue`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_global_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);

/// Runs the main queue's items on the calling thread, for ever.
///
/// Stops unless the main thread calls.
/// - Source: Apple, Dispatch, `dispatch_main`.
DISPATCH_EXPORT DISPATCH_NOTHROW DISPATCH_NORETURN
void dispatch_main(void);

// MARK: Making queues

/// As a target: the global queue of the object's own class.
#define DISPATCH_TARGET_QUEUE_DEFAULT NULL

/// Makes a queue that sends its work to another one.
///
/// - Parameters:
///   - label: a name for messages, dumps and debuggers, which is copied; NULL for none.
///   - attribute: DISPATCH_QUEUE_SERIAL, DISPATCH_QUEUE_CONCURRENT, or one made from these.
///   - target: where its items run, in the end on a global queue or the main one. It is retained.
///     DISPATCH_TARGET_QUEUE_DEFAULT for the global queue of the attribute's class. No queue that
///     leads to this one.
/// - Returns: a new queue, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_queue_create_with_target`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_t dispatch_queue_create_with_target(
    const char *_Nullable label, dispatch_queue_attr_t _Nullable attribute,
    dispatch_queue_t _Nullable target);

/// Makes a queue with the default target.
///
/// - Parameters:
///   - label: a name for messages, dumps and debuggers, which is copied; NULL for none.
///   - attribute: DISPATCH_QUEUE_SERIAL, DISPATCH_QUEUE_CONCURRENT, or one made from these.
/// - Returns: a new queue, with one reference for the caller.
/// - Source: Apple, Dispatch, `dispatch_queue_create`.
DISPATCH_EXPORT DISPATCH_RETURNS_RETAINED DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_t dispatch_queue_create(
    const char *_Nullable label, dispatch_queue_attr_t _Nullable attribute);

/// Sends what is submitted to an object from now on to another queue. What was submitted before
/// still runs where it would have. The finalizer of an object runs on its target, too.
///
/// - Parameters:
///   - object: a queue, source, channel, group, semaphore or data object.
///   - target: the queue, which is retained; DISPATCH_TARGET_QUEUE_DEFAULT for the default one.
///
/// Does nothing to a global queue and the main queue. Stops when the targets would form a loop.
/// - Source: Apple, Dispatch, `dispatch_set_target_queue`.
DISPATCH_EXPORT DISPATCH_NOTHROW
void dispatch_set_target_queue(dispatch_object_t object, dispatch_queue_t _Nullable target);

// MARK: Asking a queue

/// As a queue: the one whose item is running here.
#define DISPATCH_CURRENT_QUEUE_LABEL NULL

/// The label of a queue.
///
/// - Parameter queue: the queue, or DISPATCH_CURRENT_QUEUE_LABEL.
/// - Returns: a string that lives as long as the queue; an empty one when it was made without.
/// - Source: Apple, Dispatch, `dispatch_queue_get_label`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
const char *dispatch_queue_get_label(dispatch_queue_t _Nullable queue);

/// The class that a queue was given: its own, or the least that its items run at. What others have set on its targets is
/// not counted.
///
/// - Parameter relative_priority: where to put the priority within the class, 0 … -15; NULL if not
///   wanted.
/// - Returns: the class; 0 (unspecified) when none was given.
/// - Source: Apple, Dispatch, `dispatch_queue_get_qos_class`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_qos_class_t dispatch_queue_get_qos_class(
    dispatch_queue_t queue, int *_Nullable relative_priority);

/// The queue whose item is running here. Its place in a hierarchy of targets makes the answer
/// useless for telling whether a wait would deadlock: use dispatch_assert_queue(), or
/// queue-specific data.
///
/// - Returns: the queue, without a reference; outside of any item the main queue on the main thread
///   and the default global queue elsewhere.
/// - Source: Apple, Dispatch, `dispatch_get_current_queue`, deprecated there.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_t dispatch_get_current_queue(void);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
