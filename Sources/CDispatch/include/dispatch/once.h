// SPDX-License-Identifier: Apache-2.0
// One-time initialisation.
//
// Source: Apple, Dispatch, `dispatch_once(3)`.
#ifndef __DISPATCH_ONCE__
#define __DISPATCH_ONCE__

#include "base.h"
#include "object.h"

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

/// The state of a one-time initialisation: a static or global variable that starts at 0 and that
/// only the library writes.
typedef intptr_t dispatch_once_t;

#define DISPATCH_ONCE_INLINE_FASTPATH 1

// "Done" is all ones, permanently. Programs contain the comparison below, so no release can choose
// another value. The load acquires: a caller that reads "done" sees everything that the first
// caller wrote, on every processor.
#define GRANDCENTRAL_ONCE_IS_DONE(predicate) \
  DISPATCH_EXPECT(__atomic_load_n((predicate), __ATOMIC_ACQUIRE) == ~(dispatch_once_t)0, 1)

#ifdef __BLOCKS__
/// Runs a block on the calling thread, once for each predicate. Concurrent callers wait until the
/// block has returned. Every caller then sees all effects of the block.
///
/// Stops if the block calls dispatch_once() with the same predicate.
/// - Source: Apple, Dispatch, `dispatch_once`.
DISPATCH_EXPORT DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void dispatch_once(dispatch_once_t *predicate, DISPATCH_NOESCAPE dispatch_block_t block);

/// Does the same as dispatch_once(), and calls no function once the block has run.
DISPATCH_INLINE DISPATCH_ALWAYS_INLINE DISPATCH_NONNULL_ALL DISPATCH_NOTHROW
void _dispatch_once(dispatch_once_t *predicate, DISPATCH_NOESCAPE dispatch_block_t block) {
  if (!GRANDCENTRAL_ONCE_IS_DONE(predicate)) dispatch_once(predicate, block);
}
#undef dispatch_once
#define dispatch_once _dispatch_once
#endif

/// Does the same as dispatch_once() with a function, called with `context`.
///
/// - Source: Apple, Dispatch, `dispatch_once_f`.
DISPATCH_EXPORT DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void dispatch_once_f(
    dispatch_once_t *predicate, void *_Nullable context, dispatch_function_t function);

/// Does the same as dispatch_once_f(), and calls no library function once the work has run.
DISPATCH_INLINE DISPATCH_ALWAYS_INLINE DISPATCH_NONNULL1 DISPATCH_NONNULL3 DISPATCH_NOTHROW
void _dispatch_once_f(
    dispatch_once_t *predicate, void *_Nullable context, dispatch_function_t function) {
  if (!GRANDCENTRAL_ONCE_IS_DONE(predicate)) dispatch_once_f(predicate, context, function);
}
#undef dispatch_once_f
#define dispatch_once_f _dispatch_once_f

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
