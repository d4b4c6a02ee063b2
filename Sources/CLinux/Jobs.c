// The C part of SwiftJobs: the runtime's symbols, and its functions with Swift's calling
// convention.
#define _GNU_SOURCE
#include "GrandCentralJobs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ProgramRuntime.h"

#define SWIFT __attribute__((swiftcall))

// Weak: the linker finds them in a program that contains the runtime, and the loader where the
// runtime is loaded with the program. found() looks for a runtime that was loaded later: it waits
// for the loader's lock, see gc_find_program_functions().
extern SWIFT void swift_task_enqueueOnDispatchQueue(void *job, void *queue) __attribute__((weak));
extern void *swift_task_enqueueGlobal_hook __attribute__((weak));

// `Task.defaultExecutor`: an object and its conformance.
typedef struct executor {
  void *object;
  void *conformance;
} executor;
extern SWIFT executor default_executor(void)
    __asm__("$sScTss5NeverORszABRs_rlE15defaultExecutorSch_pvgZ") __attribute__((weak));

static void *found(void *linked, const char *name) {
  // Where a runtime is linked, there is no other to search: an older one lacks some symbols.
  if (linked || swift_task_enqueueOnDispatchQueue) return linked;
  void *runtime = gc_concurrency_library();
  return runtime ? dlsym(runtime, name) : NULL;
}

// MARK: Recognising

struct gc_job_functions gc_job_functions;
static uintptr_t learned;
static bool counted;

bool gc_is_job(uintptr_t function) {
  // relaxed: only compared.
  return function != 0 && function == __atomic_load_n(&learned, __ATOMIC_RELAXED);
}

void gc_set_job_function(uintptr_t function) {
  // relaxed: a thread that does not see the address yet submits a job as a function.
  if (function != GC_EXAMINE_ALL) __atomic_store_n(&learned, function, __ATOMIC_RELAXED);
  bool all = counted || function == GC_EXAMINE_ALL;
  // From one function to all, the range widens first, so that no moment leaves the one out.
  // release: in that order for threads on x86-64, whose loads are ordered; on arm64 one job may be
  // counted as a function.
  if (all) __atomic_store_n(&gc_job_functions.beyond, UINTPTR_MAX, __ATOMIC_RELAXED);
  __atomic_store_n(&gc_job_functions.first, all ? 0 : function, __ATOMIC_RELEASE);
  if (!all) __atomic_store_n(&gc_job_functions.beyond, 0, __ATOMIC_RELAXED);
}

bool gc_learn_delayed_job(uintptr_t function) {
  static uintptr_t rejected;
  if (gc_is_job(function)) return true;
  // relaxed: a function is examined twice at worst.
  if (__atomic_load_n(&learned, __ATOMIC_RELAXED) != 0
      || function == __atomic_load_n(&rejected, __ATOMIC_RELAXED)) return false;
  Dl_info ofFunction, ofRuntime;
  void *door = (void *)&swift_task_enqueueOnDispatchQueue;
  // A program that contains the runtime is one image with it, which says nothing.
  if (door && dladdr(door, &ofRuntime) && dladdr((void *)gc_set_job_function, &ofFunction)
      && ofRuntime.dli_fbase != ofFunction.dli_fbase && dladdr((void *)function, &ofFunction)
      && ofRuntime.dli_fbase == ofFunction.dli_fbase) {
    gc_set_job_function(function);
    return true;
  }
  __atomic_store_n(&rejected, function, __ATOMIC_RELAXED);
  return false;
}

// swift/ABI/Task.h, `Job`: a reference-counted object, two words for the executor, flags with the
// priority in bits 8…15, a number.
typedef struct job {
  const void *metadata;
  uintptr_t references;
  void *for_executor[2];
  uint8_t kind;
  uint8_t priority;
  uint16_t flags;
  uint32_t number;
  void *rest[8];
} job;

uint8_t gc_job_priority(const void *address) { return ((const job *)address)->priority; }

void *gc_job_probe_queue(void) {
  static char address;
  return &address;
}

bool gc_probe_jobs(bool searches) {
  // The runtime reads the priority of a job that it submits, and notes the queue in it.
  static job none = {.priority = 0x15};
  SWIFT void (*submit)(void *, void *) = &swift_task_enqueueOnDispatchQueue;
  if (searches) submit = found((void *)submit, "swift_task_enqueueOnDispatchQueue");
  if (!submit) return false;
  gc_find_program_functions();
  submit(&none, gc_job_probe_queue());
  return true;
}

bool gc_is_object_of_this_image(const void *object) {
  Dl_info ofClass, ofFunction;
  return dladdr(*(void *const *)object, &ofClass)
      && dladdr((void *)gc_is_object_of_this_image, &ofFunction)
      && ofClass.dli_fbase == ofFunction.dli_fbase;
}

// MARK: The global executor

static bool (*enqueue_job)(void *job, uint8_t priority);

// The runtime's tail call: a job, and the function that it would have called without a hook.
static SWIFT void enqueue_global(job *job, SWIFT void (*original)(void *)) {
  uint8_t priority = job->priority;
  // The number that the runtime's own executor notes for the global queues.
  job->for_executor[1] = (void *)1;
  if (!enqueue_job(job, priority)) original(job);
}

bool gc_hook_global_jobs(bool (*enqueue)(void *job, uint8_t priority)) {
  void **hook = found(&swift_task_enqueueGlobal_hook, "swift_task_enqueueGlobal_hook");
  if (!hook) return false;
  enqueue_job = enqueue;
  void *none = NULL;
  // release: a thread that calls through the hook reads `enqueue_job`. The runtime reads the hook
  // without an ordering, and calls through it: a dependency, which orders on every machine that
  // Swift runs on.
  return __atomic_compare_exchange_n(
      hook, &none, (void *)enqueue_global, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

bool gc_global_executor_is_own(void) {
  SWIFT executor (*get)(void) = found(
      (void *)&default_executor, "$sScTss5NeverORszABRs_rlE15defaultExecutorSch_pvgZ");
  void *object = get ? get().object : NULL;  // with a reference for the caller
  if (!object) return false;
  static const char own[] = ".DispatchGlobalTaskExecutor";
  const size_t count = sizeof own - 1;
  gc_type_name name = gc_class_name(object);
  bool is_own =
      name.count > count && memcmp(name.bytes + name.count - count, own, count) == 0;
  gc_release_of_program(object);
  return is_own;
}

// MARK: Counting

static uint64_t jobs, others;

// relaxed, here and below: the counts are printed when the program ends.
void gc_job_submitted(bool is_job) {
  if (counted) __atomic_fetch_add(is_job ? &jobs : &others, 1, __ATOMIC_RELAXED);
}

static void print_counts(void) {
  fprintf(
      stderr, "GRAND CENTRAL: jobs=%lu functions=%lu\n",
      (unsigned long)__atomic_load_n(&jobs, __ATOMIC_RELAXED),
      (unsigned long)__atomic_load_n(&others, __ATOMIC_RELAXED));
}

void gc_count_jobs_if_asked(void) {
  if (!getenv("GRANDCENTRAL_COUNT_JOBS")) return;
  counted = true;
  gc_set_job_function(0);
  atexit(print_counts);
}
