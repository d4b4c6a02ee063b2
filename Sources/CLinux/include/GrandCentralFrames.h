// The stack from which a thread submits, by its frame pointers: see BlackBox/EventOrigins.
#ifndef GRANDCENTRAL_FRAMES_H
#define GRANDCENTRAL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

// The memory in which the calling thread's frames lie.
typedef struct gc_stack_bounds {
  uintptr_t low;
  uintptr_t high;
} gc_stack_bounds;
// Asks the system for them, which reads a file in the first thread. Both 0: they are not known.
gc_stack_bounds gc_stack_bounds_of_thread(void);

// Stores the return addresses of the callers, innermost first, and returns their number: at most
// `most`. Follows the frame pointers. Code without them leaves any value in the register, so a
// frame counts only if it lies in the stack and above the one before: what is read is always memory
// of the stack, and the walk ends. On a stack of the program's own it finds nothing.
__attribute__((always_inline)) static inline uint32_t gc_walk_frames(
    uint64_t *_Nonnull found, uint32_t most, gc_stack_bounds stack) {
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  uint32_t count = 0;
  uintptr_t least = stack.low;
  while (count < most && frame >= least && frame % sizeof(uintptr_t) == 0
         && stack.high - frame >= 2 * sizeof(uintptr_t) && frame < stack.high) {
    const uintptr_t *record = (const uintptr_t *)frame;
    // The upper bits may have a signature (arm64).
    uint64_t code = record[1] & 0xffffffffffff;
    // Nothing has code there: the outermost frame.
    if (code < 4096) break;
    found[count++] = code;
    least = frame + 2 * sizeof(uintptr_t);
    frame = record[0];
  }
  return count;
}

// Whether both addresses lie in one loaded file. Takes no lock.
bool gc_are_of_one_image(uintptr_t code, uintptr_t other);

#endif
