// Memory from the kernel, past the allocator.
#ifndef GRANDCENTRAL_MEMORY_H
#define GRANDCENTRAL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

// Returns zeroed memory at a multiple of `bytes`, a power of two and no less than a page; NULL if
// there is none. A page costs memory once it is used. It is for pointers to allocated memory too:
// the leak checker reads it.
void *_Nullable gc_reserve_memory(size_t bytes);

// Gives a part of such memory back to the kernel, which provides it zeroed when it is used again.
// Keeps what is less than a page of the kernel, and all of it where the program has locked its
// memory, mlockall(2).
void gc_release_memory(void *_Nonnull start, size_t bytes);

// Sleeps for 10 ms: until other threads may have given memory back.
void gc_wait_for_memory(void);

// Whether a system call changes the mappings of memory, and so takes their lock, and waits for
// nothing else: by its number and its first five arguments.
bool gc_changes_mappings(long call, const unsigned long *_Nonnull arguments);

#endif
