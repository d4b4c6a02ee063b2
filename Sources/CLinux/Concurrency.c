// Hands the jobs of the Swift Concurrency runtime to the engine. The runtime exports variables that
// hold functions with Swift's calling convention, so these functions must be C with that attribute.
// Nothing here links the runtime: a program may not have it, and the drop-in library must not need
// it, since the runtime itself loads a Dispatch library.
// Layout of the hooks: swift/Runtime/Concurrency.h; the last argument of each is the original.
#include "GrandCentralConcurrency.h"
#include "Symbols.h"

#define SWIFT __attribute__((swiftcall))

// Weak: the linker finds them in a program that contains the runtime statically, and the loader
// where the runtime is a library of the program.
#define HOOK(name) extern void *name __attribute__((weak))
HOOK(swift_task_enqueueGlobal_hook);
HOOK(swift_task_enqueueGlobalWithDelay_hook);
HOOK(swift_task_enqueueGlobalWithDeadline_hook);
HOOK(swift_task_enqueueMainExecutor_hook);
HOOK(swift_task_asyncMainDrainQueue_hook);
HOOK(swift_task_getMainExecutor_hook);
HOOK(swift_task_isMainExecutor_hook);

// A serial executor as the runtime passes it: an object and its conformance; zeros: none.
typedef struct executor_ref {
  void *identity;
  void *implementation;
} executor_ref;

extern void swift_job_run(void *job, executor_ref executor) __attribute__((weak)) SWIFT;
extern executor_ref swift_task_getMainExecutor(void) __attribute__((weak)) SWIFT;
extern uint8_t swift_concurrency_jobPriority(void *job) __attribute__((weak)) SWIFT;

// Written before the first hook is installed, and never again.
static gc_concurrency_doors doors;
static SWIFT void (*run)(void *job, executor_ref executor);
static SWIFT executor_ref (*main_executor)(void);
static SWIFT uint8_t (*priority_of)(void *job);

static SWIFT void enqueue_global(void *job, void *original) {
  doors.global(job, priority_of(job));
}

static SWIFT void enqueue_main(void *job, void *original) { doors.main(job, priority_of(job)); }

static SWIFT void enqueue_delayed(unsigned long long nanoseconds, void *job, void *original) {
  doors.delayed(job, priority_of(job), nanoseconds);
}

static SWIFT void enqueue_at(
    long long seconds, long long nanoseconds, long long tolerance_seconds,
    long long tolerance_nanoseconds, int clock, void *job, void *original) {
  doors.at(
      job, priority_of(job), clock, seconds, nanoseconds, tolerance_seconds,
      tolerance_nanoseconds);
}

static SWIFT executor_ref get_main(void *original) {
  return (executor_ref){doors.main_identity, doors.main_implementation};
}

// The executor that the runtime would use itself is still one of the main actor: a job that began
// before the installation runs on it.
static SWIFT bool is_main(executor_ref executor, SWIFT bool (*original)(executor_ref executor)) {
  return executor.identity == doors.main_identity || original(executor);
}

static SWIFT void drain_main(void *original, void *compatibility) { doors.drain_main(); }

void gc_concurrency_run(void *job, void *queue) { run(job, (executor_ref){0, 0}); }

void gc_concurrency_run_main(void *job, void *queue) { run(job, main_executor()); }

bool gc_concurrency_install(const gc_concurrency_doors *given) {
  struct {
    void **hook;
    void *function;
  } hooks[] = {
      {FIND(swift_task_enqueueMainExecutor_hook), (void *)enqueue_main},
      {FIND(swift_task_asyncMainDrainQueue_hook), (void *)drain_main},
      {FIND(swift_task_enqueueGlobalWithDelay_hook), (void *)enqueue_delayed},
      {FIND(swift_task_enqueueGlobalWithDeadline_hook), (void *)enqueue_at},
      {FIND(swift_task_enqueueGlobal_hook), (void *)enqueue_global},
      {FIND(swift_task_isMainExecutor_hook), (void *)is_main},
      {FIND(swift_task_getMainExecutor_hook), (void *)get_main},
  };
  // The last two only for a caller that has an executor for the main actor.
  const int count = sizeof hooks / sizeof *hooks - (given->main_identity ? 0 : 2);
  for (int i = 0; i < count; i++) {
    if (!hooks[i].hook) return false;
    // Another library has taken over the runtime. Its choice stands.
    void *present = __atomic_load_n(hooks[i].hook, __ATOMIC_ACQUIRE);
    if (present && present != hooks[i].function) return false;
  }
  doors = *given;
  run = FIND(swift_job_run);
  main_executor = FIND(swift_task_getMainExecutor);
  priority_of = FIND(swift_concurrency_jobPriority);
  if (!run || !main_executor || !priority_of) return false;
  for (int i = 0; i < count; i++) {
    // Release: a thread that reads the hook reads the variables above through it.
    __atomic_store_n(hooks[i].hook, hooks[i].function, __ATOMIC_RELEASE);
  }
  return true;
}
