// C functions for the benchmarks: a compiler barrier, allocator totals, the calling thread's stripe
// number, and the environment for a child.
#ifndef CMETRICS_H
#define CMETRICS_H

#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

/// Makes the compiler treat `value` as used. Costs a register.
static inline void metrics_keep(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

/// The bytes allocated and not freed, with large mappings; 0 if the allocator does not report them.
static inline uint64_t metrics_malloc_bytes(void) {
#ifdef __GLIBC__
  struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
#else
  return 0;
#endif
}

/// A number that is stable for the calling thread and mostly differs between threads.
uint64_t metrics_thread_stripe(void);

/// The process's environment, for posix_spawn.
static inline char **metrics_environment(void) {
  extern char **environ;
  return environ;
}

#endif
