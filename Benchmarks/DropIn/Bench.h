// Programs that know only the C interface, timed on the libdispatch.so that the loader finds.
#ifndef BENCH_H
#define BENCH_H

#include <dispatch/dispatch.h>
#include <stddef.h>
#include <stdint.h>

// Runs `count` operations and returns when all have ended.
typedef void (*workload_body)(size_t count);

typedef struct workload {
  const char *name;
  workload_body body;
  // The number of operations; 0 lets the benchmark choose a number that takes long enough.
  size_t count;
} workload;

// A table for each family. A row without a name ends it.
extern const workload async_workloads[], sync_workloads[], block_workloads[], apply_workloads[],
    waiting_workloads[], source_workloads[], time_workloads[];

// Ends the program if a result is wrong: such a row must not get into a table.
#define EXPECT(condition) \
  ((condition) ? (void)0 : expectation_failed(#condition, __FILE__, __LINE__))
_Noreturn void expectation_failed(const char *condition, const char *file, int line);

// Calls `body` on `threads` threads at once, each with its share of `count`.
void on_threads(
    int threads, size_t count, void (*body)(size_t count, void *context), void *context);

// Adds one to the size_t at `context`. Calls must not overlap.
void add_one(void *context);
// Signals the semaphore `context`.
void signal_semaphore(void *context);

#endif
