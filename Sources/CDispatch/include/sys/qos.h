// SPDX-License-Identifier: Apache-2.0
// Names of the quality-of-service classes. dispatch/queue.h includes this header if <sys/qos.h> is
// on the include path; other programs may include it themselves.
#ifndef _SYS_QOS_H
#define _SYS_QOS_H

#include "../os/generic_unix_base.h"

/// How much the user notices slow work, from most to least. The numbers are the values of
/// dispatch_qos_class_t.
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

/// The lowest relative priority within a class; the highest is 0.
#define QOS_MIN_RELATIVE_PRIORITY (-15)

#endif
