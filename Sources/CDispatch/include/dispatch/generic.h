// SPDX-License-Identifier: Apache-2.0
// dispatch_wait(), _notify(), _cancel() and _testcancel() for every type that supports them. The
// argument's type selects the function: by _Generic in C11 and later, by overloads in C++.
//
// Source: Apple, Dispatch, `dispatch/object.h`.
#ifndef GRANDCENTRAL_DISPATCH_GENERIC
#define GRANDCENTRAL_DISPATCH_GENERIC

#include "block.h"
#include "group.h"
#include "semaphore.h"
#include "source.h"

#ifdef __cplusplus

DISPATCH_ASSUME_NONNULL_BEGIN

static inline intptr_t dispatch_wait(dispatch_group_t object, dispatch_time_t timeout) {
  return dispatch_group_wait(object, timeout);
}
static inline intptr_t dispatch_wait(dispatch_semaphore_t object, dispatch_time_t timeout) {
  return dispatch_semaphore_wait(object, timeout);
}
static inline void dispatch_cancel(dispatch_source_t object) { dispatch_source_cancel(object); }
static inline intptr_t dispatch_testcancel(dispatch_source_t object) {
  return dispatch_source_testcancel(object);
}
#ifdef __BLOCKS__
static inline intptr_t dispatch_wait(dispatch_block_t object, dispatch_time_t timeout) {
  return dispatch_block_wait(object, timeout);
}
static inline void dispatch_notify(
    dispatch_group_t object, dispatch_queue_t queue, dispatch_block_t notification) {
  dispatch_group_notify(object, queue, notification);
}
static inline void dispatch_notify(
    dispatch_block_t object, dispatch_queue_t queue, dispatch_block_t notification) {
  dispatch_block_notify(object, queue, notification);
}
static inline void dispatch_cancel(dispatch_block_t object) { dispatch_block_cancel(object); }
static inline intptr_t dispatch_testcancel(dispatch_block_t object) {
  return dispatch_block_testcancel(object);
}
#endif

DISPATCH_ASSUME_NONNULL_END

#elif (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L) || \
    OS_HAS_EXTENSION(c_generic_selections)

#ifdef __BLOCKS__
#define GRANDCENTRAL_OR_BLOCK(function) , dispatch_block_t : function
#define dispatch_notify(object, queue, notification) \
  _Generic((object), dispatch_group_t: dispatch_group_notify, \
      dispatch_block_t: dispatch_block_notify)((object), (queue), (notification))
#else
#define GRANDCENTRAL_OR_BLOCK(function)
#endif

/// Waits for a group, a semaphore or a block object, as dispatch_group_wait() does.
#define dispatch_wait(object, timeout) \
  _Generic((object), dispatch_group_t: dispatch_group_wait, \
      dispatch_semaphore_t: dispatch_semaphore_wait \
      GRANDCENTRAL_OR_BLOCK(dispatch_block_wait))((object), (timeout))
/// Cancels a source or a block object.
#define dispatch_cancel(object) \
  _Generic((object), dispatch_source_t: dispatch_source_cancel \
      GRANDCENTRAL_OR_BLOCK(dispatch_block_cancel))((object))
/// Tests whether a source or a block object was cancelled.
#define dispatch_testcancel(object) \
  _Generic((object), dispatch_source_t: dispatch_source_testcancel \
      GRANDCENTRAL_OR_BLOCK(dispatch_block_testcancel))((object))

#endif

#endif
