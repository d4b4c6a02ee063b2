// SPDX-License-Identifier: Apache-2.0
// Options for creating a queue. An attribute is a plain value that needs no release.
//
// Source: Apple, Dispatch, `dispatch_queue_attr_make_with_qos_class(3)`.
#ifndef GRANDCENTRAL_DISPATCH_QUEUE_ATTRIBUTE
#define GRANDCENTRAL_DISPATCH_QUEUE_ATTRIBUTE

#include "queue.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

DISPATCH_EXPORT struct dispatch_queue_attr_s _dispatch_queue_attr_concurrent;

/// A serial queue.
#define DISPATCH_QUEUE_SERIAL NULL
/// A concurrent queue.
#define DISPATCH_QUEUE_CONCURRENT \
  DISPATCH_GLOBAL_OBJECT(dispatch_queue_attr_t, _dispatch_queue_attr_concurrent)
/// A serial queue that starts with dispatch_activate().
#define DISPATCH_QUEUE_SERIAL_INACTIVE \
  dispatch_queue_attr_make_initially_inactive(DISPATCH_QUEUE_SERIAL)
/// A concurrent queue that starts with dispatch_activate().
#define DISPATCH_QUEUE_CONCURRENT_INACTIVE \
  dispatch_queue_attr_make_initially_inactive(DISPATCH_QUEUE_CONCURRENT)
/// The attributes without an autorelease pool, which exists in Objective-C only.
#define DISPATCH_QUEUE_SERIAL_WITH_AUTORELEASE_POOL \
  dispatch_queue_attr_make_with_autorelease_frequency( \
      DISPATCH_QUEUE_SERIAL, DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM)
#define DISPATCH_QUEUE_CONCURRENT_WITH_AUTORELEASE_POOL \
  dispatch_queue_attr_make_with_autorelease_frequency( \
      DISPATCH_QUEUE_CONCURRENT, DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM)

/// Returns an attribute for a queue that runs nothing before dispatch_activate(). Its target may
/// change until then.
///
/// - Parameter attribute: the attribute to start from.
/// - Source: Apple, Dispatch, `dispatch_queue_attr_make_initially_inactive`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_attr_t dispatch_queue_attr_make_initially_inactive(
    dispatch_queue_attr_t _Nullable attribute);

/// When autorelease pools are drained. Accepted, and without effect on Linux.
DISPATCH_ENUM(dispatch_autorelease_frequency, unsigned long,
  /// As the target queue.
  DISPATCH_AUTORELEASE_FREQUENCY_INHERIT = 0,
  /// After each item.
  DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM = 1,
  /// Never.
  DISPATCH_AUTORELEASE_FREQUENCY_NEVER = 2,
);

/// Returns an attribute with an autorelease frequency.
///
/// - Parameter attribute: the attribute to start from.
/// - Returns: the new attribute; `attribute` for an unknown frequency.
/// - Source: Apple, Dispatch, `dispatch_queue_attr_make_with_autorelease_frequency`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_attr_t dispatch_queue_attr_make_with_autorelease_frequency(
    dispatch_queue_attr_t _Nullable attribute, dispatch_autorelease_frequency_t frequency);

/// Returns an attribute with a quality-of-service class.
///
/// - Parameters:
///   - attribute: the attribute to start from.
///   - qos_class: the class; 0 for none.
///   - relative_priority: the priority within the class, 0 … -15 (QOS_MIN_RELATIVE_PRIORITY).
/// - Returns: the new attribute; `attribute` if the class or the priority is out of range.
/// - Source: Apple, Dispatch, `dispatch_queue_attr_make_with_qos_class`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(
    dispatch_queue_attr_t _Nullable attribute, dispatch_qos_class_t qos_class,
    int relative_priority);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
