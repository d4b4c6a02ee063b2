// SPDX-License-Identifier: Apache-2.0
// Functions that all objects share: references, context, finalizer, suspension, target queue.
//
// Source: Apple, Dispatch, `dispatch_object(3)`.
#ifndef __DISPATCH_OBJECT__
#define __DISPATCH_OBJECT__

#include "base.h"
#include "../os/object.h"

// With -pedantic, gcc warns in the client's code about each object passed as a dispatch_object_t,
// unless a system header declares the function. Other compilers check this file as any other.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#pragma GCC system_header
#endif

DISPATCH_ASSUME_NONNULL_BEGIN

// MARK: Types

// A function that accepts any object takes a dispatch_object_t, and the caller passes the object
// without a cast. In C++ object types derive from each other and cannot be constructed. In C the
// parameter is a union that gcc and clang pass as the pointer inside it.
#ifdef __cplusplus

typedef struct dispatch_object_s {
#if __cplusplus >= 201103L
  dispatch_object_s() = delete;
  ~dispatch_object_s() = delete;
  dispatch_object_s(const dispatch_object_s &) = delete;
  void operator=(const dispatch_object_s &) = delete;
#endif
} *dispatch_object_t;
#define DISPATCH_DECL(name) typedef struct name##_s : public dispatch_object_s { } *name##_t
#define DISPATCH_DECL_SUBCLASS(name, base) typedef struct name##_s : public base##_s { } *name##_t
#define DISPATCH_GLOBAL_OBJECT(type, object) (static_cast<type>(&(object)))

#else

typedef union {
  struct _os_object_s *_os_obj;
  struct dispatch_object_s *_do;
  struct dispatch_queue_s *_dq;
  struct dispatch_queue_attr_s *_dqa;
  struct dispatch_group_s *_dg;
  struct dispatch_source_s *_ds;
  struct dispatch_mach_s *_dm;
  struct dispatch_mach_msg_s *_dmsg;
  struct dispatch_semaphore_s *_dsema;
  struct dispatch_data_s *_ddata;
  struct dispatch_io_s *_dchannel;
} dispatch_object_t DISPATCH_TRANSPARENT_UNION;
#define DISPATCH_DECL(name) typedef struct name##_s *name##_t
#define DISPATCH_DECL_SUBCLASS(name, base) typedef base##_t name##_t
#define DISPATCH_GLOBAL_OBJECT(type, object) ((type) & (object))

#endif

#define DISPATCH_DATA_DECL(name) DISPATCH_DECL(name)
#define DISPATCH_SOURCE_DECL(name) DISPATCH_DECL(name)

#ifdef __BLOCKS__
/// A work item, handler or destructor, as a block. A function that keeps a block copies it.
typedef void (^dispatch_block_t)(void);
#endif

__BEGIN_DECLS

// MARK: References

/// Adds a reference to an object. Immortal objects, such as the global queues, count none.
///
/// - Source: Apple, Dispatch, `dispatch_retain`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_retain(dispatch_object_t object);

/// Drops a reference. After the last one the object finishes its pending work and is disposed of: a
/// queue runs its items, then its finalizer runs on its target queue.
///
/// Stops if the client holds no reference to an object that something else keeps alive; if the last
/// reference to a suspended or never activated queue or source goes, except for a source that was
/// cancelled before activation; and if a semaphore goes while a thread waits on it.
/// - Source: Apple, Dispatch, `dispatch_release`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_release(dispatch_object_t object);

// MARK: Context

/// Returns the pointer that the client attached to an object.
///
/// - Returns: the context; NULL if none was set.
/// - Source: Apple, Dispatch, `dispatch_get_context`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
void *_Nullable dispatch_get_context(dispatch_object_t object);

/// Attaches a pointer to an object. The library never dereferences it. It is the argument of the
/// object's finalizer, and of a source's handlers of type dispatch_function_t.
///
/// - Parameter context: the pointer; NULL for none. Global queues and dispatch_data_empty keep
///   none.
/// - Source: Apple, Dispatch, `dispatch_set_context`.
DISPATCH_EXPORT DISPATCH_NOTHROW
void dispatch_set_context(dispatch_object_t object, void *_Nullable context);

/// Sets the function that is called with an object's context when the object is disposed of.
///
/// - Parameter finalizer: called once, on the object's target queue, if the context is not NULL at
///   that time; NULL for none. Immortal objects never call it.
/// - Source: Apple, Dispatch, `dispatch_set_finalizer_f`.
DISPATCH_EXPORT DISPATCH_NOTHROW
void dispatch_set_finalizer_f(
    dispatch_object_t object, DISPATCH_SENDABLE dispatch_function_t _Nullable finalizer);

// MARK: Suspension

/// Starts a queue, source or workloop that was created inactive. Later calls do nothing.
///
/// Objects of other types are never inactive.
/// - Source: Apple, Dispatch, `dispatch_activate`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_activate(dispatch_object_t object);

/// Keeps a queue or source from starting work until a matching dispatch_resume(). Suspensions nest.
/// Running items continue; an item that suspends its own serial queue is the last to run.
///
/// Does nothing to global queues and to objects of other types.
/// - Source: Apple, Dispatch, `dispatch_suspend`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_suspend(dispatch_object_t object);

/// Balances one dispatch_suspend(). The first call activates an inactive source, as programs older
/// than dispatch_activate() expect.
///
/// Stops if the object is not suspended.
/// - Source: Apple, Dispatch, `dispatch_resume`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_resume(dispatch_object_t object);

// MARK: Debugging

/// Logs one line: a message, then a description of an object. The text changes between releases.
///
/// - Parameters:
///   - message: a format of printf(3), followed by its arguments.
/// - Source: Apple, Dispatch, `dispatch_debug`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NOTHROW DISPATCH_COLD
__attribute__((__format__(__printf__, 2, 3)))
void dispatch_debug(dispatch_object_t object, const char *message, ...);

/// Does the same as dispatch_debug(), with the arguments in a va_list.
///
/// - Source: Apple, Dispatch, `dispatch_debugv`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NOTHROW DISPATCH_COLD
__attribute__((__format__(__printf__, 2, 0)))
void dispatch_debugv(dispatch_object_t object, const char *message, va_list arguments);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
