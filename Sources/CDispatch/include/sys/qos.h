// Names for the classes of quality of service, for programs that include this header themselves.
// The dispatch headers do not: programs written for Linux alone define such names on their own.
#ifndef _SYS_QOS_H
#define _SYS_QOS_H

#include "../os/generic_unix_base.h"

/// How much the user notices that work is slow, from most to least. The numbers are what
/// dispatch_qos_class_t holds.
///
/// - Source: Apple, `sys/qos.h`.
OS_ENUM(qos_class, unsigned int,
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00
);

/// The least relative priority within a class; the greatest is 0.
#define QOS_MIN_RELATIVE_PRIORITY (-15)

#endif
