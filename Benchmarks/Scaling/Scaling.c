// The workloads of Docs/Scaling.md on a real machine, timed on the libdispatch.so that the loader
// finds.
//
// scaling NAME CORES WORK: items that compute WORK nanoseconds, on CORES cores. The caller has
// bound the process to so many (scripts/lib/curves.py). Prints millions of items a second, the
// median of some samples, and the processor time of an item in nanoseconds.
// scaling --list prints the names.
#include "Scaling.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 3, MOST_SLOTS = 8192, POLL_NANOSECONDS = 200000 };
// Long beside a poll, since the end of a sample is known to a poll only.
static const double sample_nanoseconds = 100e6;
// Producers may be faster than a queue runs its items, which take memory meanwhile.
enum { MOST_ITEMS = 2000000 };

int cores;
static uint64_t work_nanoseconds;

// The items that a thread has run: each thread counts on a cache line of its own.
static struct slot {
  _Alignas(128) _Atomic uint64_t ran;
} slots[MOST_SLOTS];
static _Atomic size_t slot_count;
static __thread struct slot *own_slot;

uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t processor_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void compute(uint64_t nanoseconds) {
  uint64_t end = now() + nanoseconds;
  while (now() < end) {}
}

void item(void) {
  if (work_nanoseconds) compute(work_nanoseconds);
  if (!own_slot) {
    size_t index = atomic_fetch_add(&slot_count, 1);
    if (index >= MOST_SLOTS) fail("more threads than slots");
    own_slot = &slots[index];
  }
  uint64_t ran = atomic_load_explicit(&own_slot->ran, memory_order_relaxed);
  atomic_store_explicit(&own_slot->ran, ran + 1, memory_order_release);
}

static uint64_t items_run(void) {
  uint64_t sum = 0;
  size_t count = atomic_load(&slot_count);
  for (size_t i = 0; i < count; i++) {
    sum += atomic_load_explicit(&slots[i].ran, memory_order_acquire);
  }
  return sum;
}

void fail(const char *what) {
  fprintf(stderr, "scaling: %s\n", what);
  exit(70);
}

// Threads of the program, which are there when the measurement begins.
static struct producer {
  void (*body)(void *context, size_t number, size_t count);
  void *context;
  size_t number, count;
  pthread_t handle;
} producers[1024];
static size_t producer_count;
static pthread_barrier_t start;

static void *run_producer(void *argument) {
  struct producer *own = argument;
  pthread_barrier_wait(&start);
  own->body(own->context, own->number, own->count);
  return NULL;
}

// Makes threads that wait for `start`. Returns the number of items that they submit.
static size_t make_producers(
    size_t threads, size_t count, void (*body)(void *context, size_t number, size_t count),
    void *context) {
  if (threads > sizeof producers / sizeof *producers) fail("too many producers");
  producer_count = threads;
  pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
  for (size_t i = 0; i < threads; i++) {
    producers[i] = (struct producer){body, context, i, count / threads, 0};
    int error = pthread_create(&producers[i].handle, NULL, run_producer, &producers[i]);
    if (error) fail(strerror(error));
  }
  return count / threads * threads;
}

typedef struct sample {
  double rate, busy;
  uint64_t elapsed;
} sample;

// Runs `count` items or some fewer, and returns when the last one has ended.
static sample run(const workload *row, size_t count) {
  uint64_t before = items_run();
  producer_count = 0;
  void *state = row->make ? row->make(count) : NULL;
  uint64_t begin, busy = processor_time();
  size_t total;
  if (row->threads) {
    total = make_producers(row->threads(), count, row->produce, state);
    begin = now();
    pthread_barrier_wait(&start);
  } else {
    begin = now();
    total = row->run(count, state);
  }
  while (items_run() - before < total) {
    nanosleep(&(struct timespec){0, POLL_NANOSECONDS}, NULL);
  }
  uint64_t elapsed = now() - begin;
  busy = processor_time() - busy;
  for (size_t i = 0; i < producer_count; i++) pthread_join(producers[i].handle, NULL);
  if (producer_count) pthread_barrier_destroy(&start);
  if (row->drop) row->drop(state);
  return (sample){1000.0 * (double)total / (double)elapsed, (double)busy / (double)total, elapsed};
}

static int by_rate(const void *one, const void *other) {
  double a = ((const sample *)one)->rate, b = ((const sample *)other)->rate;
  return (a > b) - (a < b);
}

static void measure(const workload *row) {
  size_t count = (size_t)cores * 256;
  // The first runs also make the threads.
  for (;;) {
    sample first = run(row, count);
    if (first.elapsed >= sample_nanoseconds / 2 || count >= MOST_ITEMS) break;
    double factor = sample_nanoseconds / (double)first.elapsed;
    count = (size_t)((double)count * (factor > 8 ? 8 : factor)) + 1;
    if (count > MOST_ITEMS) count = MOST_ITEMS;
  }
  sample samples[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) samples[i] = run(row, count);
  qsort(samples, SAMPLES, sizeof *samples, by_rate);
  printf("%.4f %.1f\n", samples[SAMPLES / 2].rate, samples[SAMPLES / 2].busy);
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--list")) {
    for (const workload *row = workloads; row->name; row++) puts(row->name);
    return 0;
  }
  if (argc != 4) return 64;
  cores = atoi(argv[2]);
  work_nanoseconds = strtoull(argv[3], NULL, 10);
  for (const workload *row = workloads; row->name; row++) {
    if (strcmp(argv[1], row->name)) continue;
    measure(row);
    // Workers may hold what a library frees at exit.
    fflush(stdout);
    _exit(0);
  }
  return 64;
}
