// Runs one row per process, so that no row warms up the library for another. bench NAME prints the
// nanoseconds per operation, by the clock and of all CPUs: the minimum of a few samples, because
// disturbances only add to it.
// bench --list prints the names. bench --start does what the shortest program does. bench --memory
// prints the peak memory of that in bytes.
#include "Bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 16, SAMPLES = 3 };
static const double sample_nanoseconds = 20e6;
// Long enough for a sample of a row that waits more than it computes.
static const double longest_nanoseconds = 200e6;

static const workload *const families[] = {
  async_workloads, sync_workloads, block_workloads, apply_workloads,
  waiting_workloads, source_workloads, time_workloads,
};

void expectation_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
  exit(70);
}

void add_one(void *context) { ++*(size_t *)context; }

void signal_semaphore(void *context) { dispatch_semaphore_signal(context); }

typedef struct thread_work {
  size_t count;
  void (*body)(size_t count, void *context);
  void *context;
  pthread_barrier_t *start;
} thread_work;

static void *run_thread(void *argument) {
  thread_work *work = argument;
  pthread_barrier_wait(work->start);
  work->body(work->count, work->context);
  return NULL;
}

void on_threads(
    int threads, size_t count, void (*body)(size_t count, void *context), void *context) {
  EXPECT(threads <= MOST_THREADS);
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  pthread_t handles[MOST_THREADS];
  thread_work work = {count / (size_t)threads, body, context, &start};
  for (int i = 0; i < threads; i++) pthread_create(&handles[i], NULL, run_thread, &work);
  for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
  pthread_barrier_destroy(&start);
}

typedef struct sample {
  double elapsed, busy;
} sample;

static double nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static sample timed(const workload *row, size_t count) {
  sample begin = {nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID)};
  row->body(count);
  return (sample){
    nanoseconds(CLOCK_MONOTONIC) - begin.elapsed,
    nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begin.busy,
  };
}

// Sized by the CPU time of the process, which other processes do not add to.
static size_t suitable_count(const workload *row) {
  if (row->count) {
    timed(row, row->count);
    return row->count;
  }
  for (size_t count = 16;;) {
    sample first = timed(row, count);
    if (first.busy >= sample_nanoseconds / 2 || first.elapsed >= longest_nanoseconds) return count;
    // In steps, because the first, cold runs say little.
    double factor = first.busy > 0 ? sample_nanoseconds / first.busy : 10;
    count = (size_t)((double)count * (factor > 10 ? 10 : factor)) + 1;
  }
}

static double lesser(double a, double b) { return a < b ? a : b; }

static void measure(const workload *row) {
  size_t count = suitable_count(row);
  sample least = timed(row, count);
  for (int i = 1; i < SAMPLES; i++) {
    sample next = timed(row, count);
    least.elapsed = lesser(least.elapsed, next.elapsed);
    least.busy = lesser(least.busy, next.busy);
  }
  printf("%.4f %.4f\n", least.elapsed / (double)count, least.busy / (double)count);
}

// The peak of this program alone: ru_maxrss of getrusage(2) begins with the parent's peak.
static void print_peak(void) {
  FILE *status = fopen("/proc/self/status", "r");
  EXPECT(status);
  char line[256];
  unsigned long kilobytes = 0;
  while (fgets(line, sizeof line, status)) {
    if (sscanf(line, "VmHWM: %lu kB", &kilobytes) == 1) break;
  }
  fclose(status);
  printf("%lu\n", kilobytes * 1024);
}

int main(int argc, char **argv) {
  if (argc != 2) return 64;
  if (!strcmp(argv[1], "--start") || !strcmp(argv[1], "--memory")) {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    dispatch_async_f(dispatch_get_global_queue(0, 0), done, signal_semaphore);
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    if (!strcmp(argv[1], "--memory")) print_peak();
    return 0;
  }
  int list = !strcmp(argv[1], "--list");
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    for (const workload *row = families[i]; row->name; row++) {
      if (list) puts(row->name);
      if (strcmp(argv[1], row->name)) continue;
      measure(row);
      return 0;
    }
  }
  return list ? 0 : 64;
}
