// Memory from the kernel, past the allocator.
#ifndef GRANDCENTRAL_MEMORY_H
#define GRANDCENTRAL_MEMORY_H

#include <stddef.h>

// Returns zeroed memory at a multiple of `bytes`, a power of two and no less than a page; NULL if
// there is none. A page costs memory once it is used. It is for pointers to allocated memory too:
// the leak checker reads it.
void *_Nullable gc_reserve_memory(size_t bytes);

// Gives the memory of whole pages of that back to the kernel, which provides it zeroed when it is
// used again. Does nothing where the program has locked its memory.
void gc_release_memory(void *_Nonnull start, size_t bytes);

// Sleeps for 10 ms: until other threads may have given memory back.
void gc_wait_for_memory(void);

#endif
