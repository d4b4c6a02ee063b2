// The calling thread's task of Swift Concurrency, for reports. The runtime is never linked: where
// the loader does not find its symbols, as in a C program, tasks have no names.
#include "GrandCentralConcurrency.h"

#include "ProgramRuntime.h"

#define SWIFT __attribute__((swiftcall))

// A serial executor as the runtime passes it. A default actor has no conformance: its identity is
// the actor.
typedef struct executor_ref {
  void *identity;
  void *implementation;
} executor_ref;

extern const char *swift_task_getCurrentTaskName(void) __attribute__((weak)) SWIFT;
extern executor_ref swift_task_getCurrentExecutor(void) __attribute__((weak)) SWIFT;

bool gc_task_current(gc_task *task) {
  // SE-0469. The name lives as long as the task.
  task->name = swift_task_getCurrentTaskName ? swift_task_getCurrentTaskName() : 0;
  task->actor = (gc_type_name){0};
  if (swift_task_getCurrentExecutor) {
    executor_ref executor = swift_task_getCurrentExecutor();
    if (executor.identity && !executor.implementation)
      task->actor = gc_class_name(executor.identity);
  }
  return task->name || task->actor.bytes;
}
