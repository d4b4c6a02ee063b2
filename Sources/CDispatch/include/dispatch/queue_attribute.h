// How a queue is to be made. An attribute is a plain value: nothing has to be released.
//
// Source: Apple, Dispatch, `dispatch_queue_attr_make_with_qos_class(3)`.
#ifndef GRANDCENTRAL_DISPATCH_QUEUE_ATTRIBUTE
#define GRANDCENTRAL_DISPATCH_QUEUE_ATTRIBUTE

#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

DISPATCH_EXPORT struct dispatch_queue_attr_s _dispatch_queue_attr_concurrent;

/// One item at a time.
#define DISPATCH_QUEUE_SERIAL NULL
/// Items overlap, barriers excepted.
#define DISPATCH_QUEUE_CONCURRENT \
  DISPATCH_GLOBAL_OBJECT(dispatch_queue_attr_t, _dispatch_queue_attr_concurrent)
/// One item at a time, from dispatch_activate() on.
#define DISPATCH_QUEUE_SERIAL_INACTIVE \
  dispatch_queue_attr_make_initially_inactive(DISPATCH_QUEUE_SERIAL)
/// Items overlap, from dispatch_activate() on.
#define DISPATCH_QUEUE_CONCURRENT_INACTIVE \
  dispatch_queue_attr_make_initially_inactive(DISPATCH_QUEUE_CONCURRENT)
/// Autorelease pools belong to Objective-C. Here these are the attributes without them.
#define DISPATCH_QUEUE_SERIAL_WITH_AUTORELEASE_POOL \
  dispatch_queue_attr_make_with_autorelease_frequency( \
      DISPATCH_QUEUE_SERIAL, DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM)
#define DISPATCH_QUEUE_CONCURRENT_WITH_AUTORELEASE_POOL \
  dispatch_queue_attr_make_with_autorelease_frequency( \
      DISPATCH_QUEUE_CONCURRENT, DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM)

/// The attribute for a queue that runs nothing before dispatch_activate(). Its target may be
/// changed freely until then.
///
/// - Parameter attribute: what else the queue is to be.
/// - Source: Apple, Dispatch, `dispatch_queue_attr_make_initially_inactive`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_attr_t dispatch_queue_attr_make_initially_inactive(
    dispatch_queue_attr_t _Nullable attribute);

/// When pools of autoreleased objects are emptied. Accepted and kept; without effect on Linux.
DISPATCH_ENUM(dispatch_autorelease_frequency, unsigned long,
  DISPATCH_AUTORELEASE_FREQUENCY_INHERIT = 0,
  DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM = 1,
  DISPATCH_AUTORELEASE_FREQUENCY_NEVER = 2,
);

/// The attribute with an autorelease frequency.
///
/// - Parameter attribute: what else the queue is to be.
/// - Returns: the new attribute; `attribute` for an unknown frequency.
/// - Source: Apple, Dispatch, `dispatch_queue_attr_make_with_autorelease_frequency`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_attr_t dispatch_queue_attr_make_with_autorelease_frequency(
    dispatch_queue_attr_t _Nullable attribute, dispatch_autorelease_frequency_t frequency);

/// The attribute with a class of quality of service.
///
/// - Parameters:
///   - attribute: what else the queue is to be.
///   - qos_class: the class; 0 for none of its own.
///   - relative_priority: 0 … -15 (QOS_MIN_RELATIVE_PRIORITY), the place within the class.
/// - Returns: the new attribute; `attribute` when the class or the priority is out of range.
/// - Source: Apple, Dispatch, `dispatch_queue_attr_make_with_qos_class`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(
    dispatch_queue_attr_t _Nullable attribute, dispatch_qos_class_t qos_class,
    int relative_priority);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
