// What all objects of the library have in common: references, a context, a finalizer, suspension.
//
// Source: Apple, Dispatch, `dispatch_object(3)`.
#ifndef __DISPATCH_OBJECT__
#define __DISPATCH_OBJECT__

#include "base.h"
#include "../os/object.h"

// For a pedantic gcc, an object passed as a dispatch_object_t is worth a warning in the client's
// code, unless a system's header declares the function. Other compilers check this file as any other.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#pragma GCC system_header
#endif

DISPATCH_ASSUME_NONNULL_BEGIN

// MARK: Types

// A function that takes any object takes a dispatch_object_t, and its caller passes the object as
// it is. C++ does so by inheritance: objects are of types that derive from one another, which
// nobody can construct. C does so by a union that gcc and clang pass as the pointer inside it.
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
/// Work, a handler or a destructor, as a block. The functions that keep one copy it.
typedef void (^dispatch_block_t)(void);
#endif

__BEGIN_DECLS

// MARK: References

/// Adds a reference to an object. Queues that live for ever, such as the global ones, count none.
///
/// - Source: Apple, Dispatch, `dispatch_retain`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_retain(dispatch_object_t object);

/// Drops a reference. With the last one the object is disposed of, as soon as nothing that it was
/// asked to do is left: a queue runs what it has, then its finalizer runs on its target queue.
///
/// Stops when the client holds no reference to the object, which something else keeps; when the last
/// reference to a suspended or never activated queue or source goes, a source cancelled before it
/// was activated excepted; and when a semaphore goes while a thread waits on it.
/// - Source: Apple, Dispatch, `dispatch_release`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_release(dispatch_object_t object);

// MARK: Context

/// The pointer that the client gave an object.
///
/// - Returns: the context; NULL when none was set.
/// - Source: Apple, Dispatch, `dispatch_get_context`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_WARN_RESULT DISPATCH_NOTHROW
void *_Nullable dispatch_get_context(dispatch_object_t object);

/// Gives an object a pointer to keep. The library passes it on and never looks behind it; the
/// object's finalizer and a source's handlers of type dispatch_function_t get it as their argument.
///
/// - Parameter context: what to keep; NULL for nothing. Global objects keep none.
/// - Source: Apple, Dispatch, `dispatch_set_context`.
DISPATCH_EXPORT DISPATCH_NOTHROW
void dispatch_set_context(dispatch_object_t object, void *_Nullable context);

/// Sets what is called with an object's context when the object is disposed of.
///
/// - Parameter finalizer: called once, on the object's target queue, if the context is not NULL by
///   then. NULL for none. Global objects have none.
/// - Source: Apple, Dispatch, `dispatch_set_finalizer_f`.
DISPATCH_EXPORT DISPATCH_NOTHROW
void dispatch_set_finalizer_f(
    dispatch_object_t object, DISPATCH_SENDABLE dispatch_function_t _Nullable finalizer);

// MARK: Suspension

/// Lets a queue, source or workloop begin that was made inactive. Once it has, this does nothing.
///
/// Objects of other types are never inactive.
/// - Source: Apple, Dispatch, `dispatch_activate`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_activate(dispatch_object_t object);

/// Keeps a queue or source from starting work until dispatch_resume() was called as often as this.
/// What runs already runs on; so an item that suspends its own serial queue is the last one to run.
///
/// Does nothing to global queues and to objects of other types.
/// - Source: Apple, Dispatch, `dispatch_suspend`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_suspend(dispatch_object_t object);

/// Takes back one dispatch_suspend(). An inactive source is activated by the first call, as
/// programs expect that are older than dispatch_activate().
///
/// Stops when the object is not suspended.
/// - Source: Apple, Dispatch, `dispatch_resume`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_resume(dispatch_object_t object);

// MARK: Looking inside

/// Writes a line about an object to the log, with a message in front. For debugging: the text
/// changes from release to release.
///
/// - Parameters:
///   - message: a format of printf(3), followed by its arguments.
/// - Source: Apple, Dispatch, `dispatch_debug`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NOTHROW DISPATCH_COLD
__attribute__((__format__(__printf__, 2, 3)))
void dispatch_debug(dispatch_object_t object, const char *message, ...);

/// dispatch_debug() with the arguments in a list.
///
/// - Source: Apple, Dispatch, `dispatch_debugv`.
DISPATCH_EXPORT DISPATCH_NONNULL2 DISPATCH_NOTHROW DISPATCH_COLD
__attribute__((__format__(__printf__, 2, 0)))
void dispatch_debugv(dispatch_object_t object, const char *message, va_list arguments);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
