// The context of the calling thread, and what the kernel says of a thread.
#define _GNU_SOURCE
#include "GrandCentralThread.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread gc_thread *gc_thread_self __attribute__((tls_model("initial-exec")));

uint32_t gc_thread_id(void) { return (uint32_t)syscall(SYS_gettid); }
uint32_t gc_process_id(void) { return (uint32_t)getpid(); }
void gc_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int gc_affinity_count(uint32_t thread) {
  // Room for 1,024 CPUs, which saves an allocation on most machines.
  cpu_set_t usual;
  CPU_ZERO(&usual);
  if (sched_getaffinity((pid_t)thread, sizeof usual, &usual) == 0) return CPU_COUNT(&usual);
  if (errno != EINVAL) return -1;
  // EINVAL: the mask is smaller than the kernel's, so it grows until it fits.
  for (size_t bytes = 256; bytes <= 65536; bytes *= 2) {
    cpu_set_t *set = calloc(1, bytes);
    if (!set) return -1;
    int result = sched_getaffinity((pid_t)thread, bytes, set);
    int count = result == 0 ? CPU_COUNT_S(bytes, set) : -1;
    free(set);
    if (result == 0) return count;
    if (errno != EINVAL) return -1;
  }
  return -1;
}

int64_t gc_thread_cpu_nanoseconds(uint32_t tid) {
  // The kernel's encoding of a per-thread CPU clock (clock_getres(2), pthread_getcpuclockid(3)).
  clockid_t clock = (clockid_t)((~tid << 3) | 6u);
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return -1;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
