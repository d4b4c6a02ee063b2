// Programs that know only the C interface, and are timed on whatever libdispatch.so the loader gives them.
#ifndef BENCH_H
#define BENCH_H

#include <dispatch/dispatch.h>
#include <stddef.h>
#include <stdint.h>

// Does `count` operations and returns when all are done.
typedef void (*workload_body)(size_t count);

typedef struct workload {
  const char *name;
  workload_body body;
  // 0: as many operations as take a while; else so many.
  size_t count;
} workload;

// One table for each family, ended by a row without a name.
extern const workload async_workloads[], sync_workloads[], block_workloads[], apply_workloads[],
    waiting_workloads[], source_workloads[], time_workloads[];

// Ends the program if something was computed wrong: such a row must not get into a table.
#define EXPECT(condition) ((condition) ? (void)0 : expectation_failed(#condition, __FILE__, __LINE__))
_Noreturn void expectation_failed(const char *condition, const char *file, int line);

// Calls `body` on `threads` threads, all at once, with what `count` comes to for each.
void on_threads(int threads, size_t count, void (*body)(size_t count, void *context), void *context);

// Adds one to the size_t that `context` points to; for those who come one after the other.
void add_one(void *context);
// Gives a permit of the semaphore `context`.
void signal_semaphore(void *context);

#endif
