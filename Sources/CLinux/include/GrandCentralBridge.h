// The functions of the process's libdispatch that GrandCentralDispatchBridge calls, under names of
// their own: the toolchain's module declares some of them with its own types, and not those for run
// loops, which CoreFoundation calls. Only that product refers to them.
#ifndef GRANDCENTRAL_BRIDGE_H
#define GRANDCENTRAL_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

void *_Nullable gc_bridge_global_queue(intptr_t identifier, uintptr_t flags)
  __asm__("dispatch_get_global_queue");
void gc_bridge_async(void *_Nonnull queue, void *_Nullable context,
                     void (*_Nonnull function)(void *_Nullable)) __asm__("dispatch_async_f");
void gc_bridge_set_target(void *_Nonnull object, void *_Nonnull target)
  __asm__("dispatch_set_target_queue");
void gc_bridge_release(void *_Nonnull object) __asm__("dispatch_release");

// Where debuggers find the fields of a queue of the library: offsets from the object's address, and
// sizes, in bytes.
extern const struct gc_bridge_offsets {
  uint16_t version, label, label_size, flags, flags_size, serial_number, serial_number_size;
  uint16_t width, width_size;
} gc_bridge_offsets __asm__("dispatch_queue_offsets");

// How many items of a queue of the library may run at once; 0: the library does not say.
static inline uint16_t gc_bridge_width(const void *_Nonnull queue) {
  uint16_t width = 0;
  if (gc_bridge_offsets.width_size == sizeof width)
    __builtin_memcpy(&width, (const char *)queue + gc_bridge_offsets.width, sizeof width);
  return width;
}

// A serial queue that is bound to the creating thread; its items run in the second function. Both
// libraries have them, because CoreFoundation calls them.
void *_Nullable gc_bridge_make_run_loop_queue(const char *_Nonnull label, unsigned long flags)
  __asm__("_dispatch_runloop_root_queue_create_4CF");
bool gc_bridge_perform(void *_Nonnull queue) __asm__("_dispatch_runloop_root_queue_perform_4CF");

#endif
