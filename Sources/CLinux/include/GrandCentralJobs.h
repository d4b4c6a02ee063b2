// The jobs of the Swift Concurrency runtime, as they reach the C interface: SwiftJobs in the
// drop-in library explains the ways. The runtime is never linked: its symbols are weak, or looked
// up.
#ifndef GRANDCENTRAL_JOBS_H
#define GRANDCENTRAL_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The address of the function with which the runtime submits its jobs as C functions. 0: unknown,
// or not used. GC_EXAMINE_ALL: every function is examined, while jobs are counted or the address is
// being learned. Relaxed: the value is only compared, and nothing is read through it.
#define GC_EXAMINE_ALL ((uintptr_t)1)
// One comparison for both: the functions to examine are those from `first` up to `beyond` bytes
// behind it. A thread may see one word before the other, and then examines one function, or all.
__attribute__((visibility("hidden"))) extern struct gc_job_functions {
  uintptr_t first;
  uintptr_t beyond;
} gc_job_functions;

// Whether a submitted function may be the runtime's.
static inline bool gc_may_be_job(uintptr_t function) {
#if defined(__x86_64__)
  // As the lines below, without loads of their own, which the compiler makes for atomics.
  bool may;
  __asm__ volatile("subq %2, %1\n\tcmpq %3, %1"
                   : "=@ccbe"(may), "+r"(function)
                   : "m"(gc_job_functions.first), "m"(gc_job_functions.beyond));
  return __builtin_expect(may, 0);
#else
  uintptr_t first = __atomic_load_n(&gc_job_functions.first, __ATOMIC_RELAXED);
  uintptr_t beyond = __atomic_load_n(&gc_job_functions.beyond, __ATOMIC_RELAXED);
  return __builtin_expect(function - first <= beyond, 0);
#endif
}
// Whether a submitted function is the runtime's.
bool gc_is_job(uintptr_t function);
void gc_set_job_function(uintptr_t function);
// Learns the function if it lies in the image of the runtime, for functions that submit at a point
// in time: the runtime passes one function to them. Returns whether it is the runtime's.
bool gc_learn_delayed_job(uintptr_t function);

// The priority of a job: the number of a QoS class in C.
uint8_t gc_job_priority(const void *_Nonnull job);

// Lets the runtime submit a job that does not exist to gc_job_probe_queue(), which is no queue. It
// calls dispatch_async_f() or dispatch_async_swift_job() at once. False: there is no runtime.
// `searches`: also looks for a runtime that dlopen(3) has loaded, in the folders of libraries.
// Where there is a runtime, this also finds the functions of it that later calls need.
bool gc_probe_jobs(bool searches);
void *_Nonnull gc_job_probe_queue(void);

// Whether an object's class lies in the image of this code. Waits for the loader's lock.
bool gc_is_object_of_this_image(const void *_Nonnull object);

// Installs `enqueue` as the runtime's global executor, in front of the present one. It returns
// false for jobs that the present one must take. Returns false if a hook is installed already, or
// the runtime has none.
bool gc_hook_global_jobs(bool (*_Nonnull enqueue)(void *_Nonnull job, uint8_t priority));
// Whether the runtime's global executor is its own, which submits to this library.
bool gc_global_executor_is_own(void);

// Counting, for tests: with GRANDCENTRAL_COUNT_JOBS in the environment, the process prints at its
// end how many jobs were submitted, and how many functions that were not recognised as jobs.
void gc_count_jobs_if_asked(void);
void gc_job_submitted(bool is_job);

#endif
