// Workloads that are timed by the number of cores: Scaling.c runs them.
#ifndef SCALING_H
#define SCALING_H

#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

typedef struct workload {
  const char *name;
  // Makes the queues for `count` items; optional, as is `drop`.
  void *(*make)(size_t count);
  void (*drop)(void *state);
  // Submits `count` items or some fewer, and returns how many.
  size_t (*run)(size_t count, void *state);
  // In place of `run`: so many threads of the program submit, each its share.
  size_t (*threads)(void);
  void (*produce)(void *state, size_t number, size_t count);
} workload;

// A row without a name ends the table.
extern const workload workloads[];

// The cores that the process is bound to.
extern int cores;

// Each item calls this once, at its end: it computes the item's time, and counts it.
void item(void);
void compute(uint64_t nanoseconds);
uint64_t now(void);
_Noreturn void fail(const char *what);

#endif
