// One cell of the liveness matrix: the delay of an item behind N items that do not end.
//   liveness HOG HOGS-QUEUE N PROBE-QUEUE CLASS SETTLE-MILLISECONDS MOST-MILLISECONDS
// HOG is compute, poll100 … poll5000 (microseconds of each usleep), yield or read; "meet…" instead
// makes N items that wait for each other: meet100 … by polling. The hogs end when the probe has
// run, or at the time limit.
// Prints the probe's delay in milliseconds (for meetings: until all items have begun), the number
// of hogs that had begun by then, and the process's largest number of threads. A delay of -1 means
// that the time limit was reached.
#include <dispatch/dispatch.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum { COMPUTE, POLL, YIELD, READ } hog_kind;
static useconds_t nap;
static int meeting, hogs, pipe_ends[2];
static atomic_int begun, stop, most_threads;
static _Atomic double probe_time;

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void hog(void *context) {
  (void)context;
  int number = atomic_fetch_add(&begun, 1) + 1;
  if (meeting && number == hogs) {
    atomic_store(&probe_time, milliseconds());
    atomic_store(&stop, 1);
  }
  char byte;
  switch (hog_kind) {
    case COMPUTE: while (!atomic_load_explicit(&stop, memory_order_relaxed)) {} break;
    case POLL: while (!atomic_load(&stop)) usleep(nap); break;
    case YIELD: while (!atomic_load(&stop)) sched_yield(); break;
    case READ: if (read(pipe_ends[0], &byte, 1) < 0) abort(); break;
  }
}

static void probe(void *context) {
  (void)context;
  atomic_store(&probe_time, milliseconds());
  atomic_store(&stop, 1);
}

static dispatch_queue_t queue_of(const char *kind, long identifier, dispatch_queue_t shared) {
  if (!strcmp(kind, "global")) return dispatch_get_global_queue(identifier, 0);
  if (!strcmp(kind, "main")) return dispatch_get_main_queue();
  if (!strcmp(kind, "overcommit")) return dispatch_get_global_queue(identifier, 2);
  if (!strcmp(kind, "concurrent") && shared) return shared;
  dispatch_queue_attr_t attribute =
    !strcmp(kind, "concurrent") ? DISPATCH_QUEUE_CONCURRENT : DISPATCH_QUEUE_SERIAL;
  if (identifier) {
    attribute = dispatch_queue_attr_make_with_qos_class(attribute, (unsigned)identifier, 0);
  }
  return dispatch_queue_create("liveness", attribute);
}

static void *watch_threads(void *context) {
  while (1) {
    DIR *tasks = opendir("/proc/self/task");
    // Less ".", "..", the main thread, this thread and the one that waits for the end.
    int count = -5;
    while (tasks && readdir(tasks)) count++;
    if (tasks) closedir(tasks);
    if (count > atomic_load(&most_threads)) atomic_store(&most_threads, count);
    usleep(2000);
  }
  return context;
}

static double start, limit;

static void *wait_for_end(void *context) {
  while (!atomic_load(&stop) && milliseconds() < limit) usleep(1000);
  int begun_then = atomic_load(&begun);
  printf("%.2f %d %d\n", atomic_load(&stop) ? atomic_load(&probe_time) - start : -1, begun_then,
         atomic_load(&most_threads));
  fflush(stdout);
  _exit(0);
  return context;
}

static int parse_hog(const char *text) {
  if (!strncmp(text, "meet", 4)) {
    meeting = 1;
    text += 4;
  }
  if (!strncmp(text, "poll", 4)) text += 4;
  nap = (useconds_t)atoi(text);
  if (nap) hog_kind = POLL;
  else if (!strcmp(text, "compute")) hog_kind = COMPUTE;
  else if (!strcmp(text, "yield")) hog_kind = YIELD;
  else if (!strcmp(text, "read")) hog_kind = READ;
  else return 0;
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 8 || !parse_hog(argv[1]) || pipe(pipe_ends)) return 64;
  hogs = atoi(argv[3]);
  long identifier = strtol(argv[5], NULL, 0);
  int settle = atoi(argv[6]), most = atoi(argv[7]);
  // Start the engine and a worker or two, as in a program that has run for a while.
  dispatch_sync_f(dispatch_queue_create("first", NULL), NULL, (dispatch_function_t)free);
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch_threads, NULL);
  dispatch_queue_t shared = queue_of("concurrent", 0, NULL);
  double begin = milliseconds();
  for (int i = 0; i < hogs; i++) dispatch_async_f(queue_of(argv[2], 0, shared), NULL, hog);
  if (!meeting) {
    usleep((useconds_t)settle * 1000);
    begin = milliseconds();
    dispatch_async_f(queue_of(argv[4], identifier, NULL), NULL, probe);
  }
  start = begin;
  limit = begin + most;
  pthread_create(&watcher, NULL, wait_for_end, NULL);
  dispatch_main();
}
