// Memory from the kernel, past the allocator.
#define _GNU_SOURCE
#include "GrandCentralMemory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Of the leak checker, in a process that has one.
void __lsan_register_root_region(const void *start, size_t bytes) __attribute__((weak));

static char *map(size_t bytes) {
  char *mapped = mmap(
      NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? NULL : mapped;
}

void *gc_reserve_memory(size_t bytes) {
  // The second half of an aligned mapping of twice the size, or what is aligned of another one. The
  // kernel maps downwards, so the next call's memory ends where this begins, and one mapping holds
  // both.
  char *mapped = map(2 * bytes);
  if (mapped) {
    char *start = (char *)(((uintptr_t)mapped + bytes) & -(uintptr_t)bytes);
    munmap(mapped, (size_t)(start - mapped));
    if (start < mapped + bytes) munmap(start + bytes, (size_t)(mapped + bytes - start));
    mapped = start;
  } else {
    // Where there is no room for more, this much may be aligned by chance.
    mapped = map(bytes);
    if (!mapped) return NULL;
    if (((uintptr_t)mapped & (bytes - 1)) != 0) {
      munmap(mapped, bytes);
      return NULL;
    }
  }
  // The checker finds what is reachable from the allocator's memory only.
  if (__lsan_register_root_region) __lsan_register_root_region(mapped, bytes);
  return mapped;
}

void gc_release_memory(void *start, size_t bytes) {
  // madvise(2) rounds the length up, past the end of what the caller has.
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)start + page - 1) & -page;
  uintptr_t end = ((uintptr_t)start + bytes) & -page;
  // EINVAL: the program has locked its memory, which it keeps then.
  if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
}

void gc_wait_for_memory(void) { nanosleep(&(struct timespec){0, 10000000}, NULL); }

bool gc_changes_mappings(long call, const unsigned long *arguments) {
  switch (call) {
  case SYS_mmap:
    // Of a file, or of memory that it fills at once, it may wait for a disk.
    return (int)arguments[4] == -1 && (arguments[3] & (MAP_POPULATE | MAP_LOCKED)) == 0;
  case SYS_madvise:
    return arguments[2] == MADV_DONTNEED || arguments[2] == MADV_FREE;
  case SYS_munmap:
  case SYS_mremap:
  case SYS_mprotect:
  case SYS_brk:
    return true;
  default:
    return false;
  }
}
