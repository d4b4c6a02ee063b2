// Swift Concurrency, and one function of the Swift runtime.
#ifndef GRANDCENTRAL_CONCURRENCY_H
#define GRANDCENTRAL_CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Concurrency.c. What becomes of the jobs of the Swift Concurrency runtime. Each function receives
// a job with its priority, the raw value of a TaskPriority, and returns at once. Any thread.
typedef struct gc_concurrency_doors {
  // For the global executor.
  void (*_Nonnull global)(void *_Nonnull job, uint8_t priority);
  // For the main actor.
  void (*_Nonnull main)(void *_Nonnull job, uint8_t priority);
  // For the global executor, after a delay in nanoseconds.
  void (*_Nonnull delayed)(void *_Nonnull job, uint8_t priority, uint64_t nanoseconds);
  // For the global executor, at a time of a clock of the runtime: 1 continuous, 2 suspending,
  // 3 wall. A negative tolerance: none is given.
  void (*_Nonnull at)(
      void *_Nonnull job, uint8_t priority, int clock, int64_t seconds, int64_t nanoseconds,
      int64_t tolerance_seconds, int64_t tolerance_nanoseconds);
  // Runs the main actor's jobs for the rest of the process, on the main thread. Does not return.
  void (*_Nonnull drain_main)(void);
  // The main actor's executor: an object and its conformance to SerialExecutor. NULL: the runtime
  // keeps its own, and calls Dispatch's functions for its jobs.
  void *_Nullable main_identity;
  void *_Nullable main_implementation;
} gc_concurrency_doors;
// Makes the runtime call these functions from now on. False, and nothing is changed: the process
// has no such runtime, or another library has taken it over. May be called again.
bool gc_concurrency_install(const gc_concurrency_doors *_Nonnull doors);
// Run a job on the calling thread: for no serial executor; for the main actor. Only after an
// installation. They ignore `queue`, which all functions that run jobs receive.
void gc_concurrency_run(void *_Nonnull job, void *_Nonnull queue);
void gc_concurrency_run_main(void *_Nonnull job, void *_Nonnull queue);

// Tasks.c. The task of Swift Concurrency that runs on the calling thread.
typedef struct gc_type_name {
  const char *_Nullable bytes;  // NULL: none; valid until the process ends
  size_t count;
} gc_type_name;
typedef struct gc_task {
  const char *_Nullable name;  // NULL: none; valid until the task ends
  gc_type_name actor;          // the class of the default actor that the thread is on
} gc_task;
// Returns false if there is neither.
bool gc_task_current(gc_task *_Nonnull task);

// Retains an object unless its deinit has begun. Returns the object or NULL. A function of the
// Swift runtime; like a weak reference, but without the side table that such an object has.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
