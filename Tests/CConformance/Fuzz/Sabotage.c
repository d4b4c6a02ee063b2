// A preloaded library that breaks one promise of the library behind it, chosen by FUZZ_FAULT. The
// fuzzer must detect each of these faults; a fault that it misses here it would miss anywhere.
#define _GNU_SOURCE
#include "../Private.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *wanted;
__attribute__((constructor)) static void read_wanted(void) { wanted = getenv("FUZZ_FAULT"); }
static bool breaks(const char *fault) { return wanted && !strcmp(wanted, fault); }
static bool now_and_then(void) {
  static _Atomic unsigned calls;
  return atomic_fetch_add(&calls, 1) % 64 == 40;
}

// Caches the lookup. Racing threads find the same address.
#define BEHIND(function) \
  (__extension__({ \
    static __typeof__(&function) _Atomic behind; \
    if (!behind) behind = (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
    behind; \
  }))

void dispatch_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
  if (breaks("lost item") && now_and_then()) return;
  BEHIND(dispatch_async_f)(queue, context, work);
  if (breaks("repeated item") && now_and_then()) BEHIND(dispatch_async_f)(queue, context, work);
}

void dispatch_barrier_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
  if (breaks("ordinary barrier")) BEHIND(dispatch_async_f)(queue, context, work);
  else BEHIND(dispatch_barrier_async_f)(queue, context, work);
}

void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
  if (breaks("sync elsewhere")) work(context);
  else if (breaks("sync that does not wait")) BEHIND(dispatch_async_f)(queue, context, work);
  else BEHIND(dispatch_sync_f)(queue, context, work);
}

void dispatch_group_notify_f(
    dispatch_group_t group, dispatch_queue_t queue, void *context, dispatch_function_t work) {
  BEHIND(dispatch_group_notify_f)(group, queue, context, work);
  if (breaks("repeated notification"))
    BEHIND(dispatch_group_notify_f)(group, queue, context, work);
}

intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
  if (breaks("open semaphore")) return 0;
  return BEHIND(dispatch_semaphore_wait)(semaphore, timeout);
}

void dispatch_source_merge_data(dispatch_source_t source, uintptr_t value) {
  BEHIND(dispatch_source_merge_data)(
    source, breaks("lost data") && now_and_then() ? value - 1 : value);
}

void dispatch_apply_f(
    size_t iterations, dispatch_queue_t queue, void *context, void (*work)(void *, size_t)) {
  size_t lost = breaks("lost iteration") && iterations > 0;
  BEHIND(dispatch_apply_f)(iterations - lost, queue, context, work);
}

dispatch_queue_t dispatch_queue_create_with_target(
    const char *label, dispatch_queue_attr_t attribute, dispatch_queue_t target) {
  if (breaks("serial queue that overlaps")) attribute = DISPATCH_QUEUE_CONCURRENT;
  return BEHIND(dispatch_queue_create_with_target)(label, attribute, target);
}

void dispatch_queue_set_width(dispatch_queue_t queue, long width) {
  if (!breaks("any width")) BEHIND(dispatch_queue_set_width)(queue, width);
}

void dispatch_set_finalizer_f(dispatch_object_t object, dispatch_function_t finalizer) {
  BEHIND(dispatch_set_finalizer_f)(object, breaks("lost finalizer") ? NULL : finalizer);
}

void dispatch_release(dispatch_object_t object) {
  if (breaks("lost release") && now_and_then()) return;
  BEHIND(dispatch_release)(object);
}

void dispatch_activate(dispatch_object_t object) {
  if (breaks("lost activation") && now_and_then()) return;
  BEHIND(dispatch_activate)(object);
}

void dispatch_group_leave(dispatch_group_t group) {
  if (breaks("lost leave") && now_and_then()) return;
  BEHIND(dispatch_group_leave)(group);
}
