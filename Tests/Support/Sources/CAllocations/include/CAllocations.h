// Counts the allocations of a program that links this target.
#ifndef GRANDCENTRAL_CALLOCATIONS_H
#define GRANDCENTRAL_CALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

// The calls of malloc(3) and its relatives by all threads and libraries of the process so far.
uint64_t allocations_count(void);
// Whether they are counted: a sanitizer brings an allocator of its own.
bool allocations_are_counted(void);

#endif
