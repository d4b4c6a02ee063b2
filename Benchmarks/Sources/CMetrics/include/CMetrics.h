// What the benchmarks need of C: a barrier the optimiser cannot see through, allocator totals, a
// thread's own stripe number, the environment for a child. Header only.
#ifndef CMETRICS_H
#define CMETRICS_H

#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

/// Uses `value` as far as the compiler can tell, at the cost of having it in a register.
static inline void metrics_keep(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

/// Bytes handed out by the allocator and not yet freed, large mappings included; 0 where the
/// allocator does not say.
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
