// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects of system libraries, without Objective-C.
#ifndef __OS_OBJECT__
#define __OS_OBJECT__

#include "generic_unix_base.h"

#define OS_OBJECT_HAVE_OBJC_SUPPORT 0
#ifdef OS_OBJECT_USE_OBJC
#undef OS_OBJECT_USE_OBJC
#endif
#define OS_OBJECT_USE_OBJC 0
#define OS_OBJECT_USE_OBJC_RETAIN_RELEASE 0
#define OS_OBJECT_SWIFT3 0
#define OS_OBJECT_RETURNS_RETAINED
#define OS_OBJECT_CONSUMED
#define OS_OBJECT_BRIDGE
#define OS_OBJECT_OBJC_RUNTIME_VISIBLE

/// Declares `name_t`, a pointer to an opaque type.
#define OS_OBJECT_DECL_CLASS(name) typedef struct name##_s *name##_t
/// The object stored in a variable.
#define OS_OBJECT_GLOBAL_OBJECT(type, object) ((type) & (object))

OS_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

struct _os_object_s;
struct _os_object_s *_os_object_retain(struct _os_object_s *object);
void _os_object_release(struct _os_object_s *object);

/// Adds a reference to an object of this library, as dispatch_retain() does.
///
/// - Returns: the object.
/// - Source: Apple, os_object, `os_retain`.
static __inline__ OS_UNUSED void *os_retain(void *object) {
  return _os_object_retain((struct _os_object_s *)object);
}

/// Drops a reference, as dispatch_release() does.
///
/// Stops if the client holds no reference.
/// - Source: Apple, os_object, `os_release`.
static __inline__ OS_UNUSED void os_release(void *object) {
  _os_object_release((struct _os_object_s *)object);
}

__END_DECLS
OS_ASSUME_NONNULL_END

#endif
