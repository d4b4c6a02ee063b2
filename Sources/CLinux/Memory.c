// Memory from the kernel, past the allocator.
#define _GNU_SOURCE
#include "GrandCentralMemory.h"

#include <stdint.h>
#include <sys/mman.h>

// Of the leak checker, in a process that has one.
void __lsan_register_root_region(const void *start, size_t bytes) __attribute__((weak));

void *gc_reserve_memory(size_t bytes) {
  // Some multiple of `bytes` lies in the first half of twice as many.
  char *mapped = mmap(
      NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  size_t before = -(uintptr_t)mapped & (bytes - 1);
  char *start = mapped + before;
  if (before > 0) munmap(mapped, before);
  munmap(start + bytes, bytes - before);
  // The checker finds what is reachable from the allocator's memory only.
  if (__lsan_register_root_region) __lsan_register_root_region(start, bytes);
  return start;
}
