// One row of queues that sleep or compute, measured beside the toolchain's library:
//   rows sleep KIND     1,000 items that sleep for 10 ms, on 1,000 serial queues or a global queue
//   rows compute KIND   1,000 items that compute for 1 ms
//   rows probe 24       an item each 20 ms for 2 s, beside 24 serial queues of items of 100 ms
//   rows resubmit 200   an item from outside, beside 200 items of 50 µs of its global queue that
//                       submit themselves again, for a second
//   rows main sync      dispatch_sync from another thread to the main queue in dispatch_main()
// Prints the figure in milliseconds (sleep and compute: until all items have ended; probe,
// resubmit and main: the mean delay), the largest delay (0 if there is none), and the process's
// peak number of threads.
#include <dispatch/dispatch.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int threads(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  int count = 0;
  while (status && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &count);
  if (status) fclose(status);
  return count;
}

static void finish(double figure, double worst, int most) {
  printf("%.6f %.3f %d\n", figure, worst, most);
  fflush(stdout);
  _exit(0);
}

static void compute_for(double duration) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double end = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + duration;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < end);
}

static void nap(void *context) {
  (void)context;
  usleep(10000);
}

static void compute(void *context) {
  (void)context;
  compute_for(1);
}

static void run_items(const char *kind, dispatch_function_t item) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queues[1000];
  for (int i = 0; i < 1000; i++)
    queues[i] = strcmp(kind, "serial") ? dispatch_get_global_queue(0, 0)
                                       : dispatch_queue_create("row", NULL);
  double begin = milliseconds();
  for (int i = 0; i < 1000; i++) dispatch_group_async_f(group, queues[i], NULL, item);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  finish(milliseconds() - begin, 0, threads());
}

static void compute_again(void *queue) {
  compute_for(100);
  dispatch_async_f(queue, queue, compute_again);
}

static double asked, delays, worst;

static void probe(void *semaphore) {
  double delay = milliseconds() - asked;
  delays += delay;
  if (delay > worst) worst = delay;
  dispatch_semaphore_signal(semaphore);
}

static void run_probes(int count) {
  for (int i = 0; i < count; i++) {
    dispatch_queue_t queue = dispatch_queue_create("busy", NULL);
    dispatch_async_f(queue, queue, compute_again);
  }
  dispatch_queue_t queue = dispatch_queue_create("probe", NULL);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  usleep(200000);
  for (int i = 0; i < 100; i++) {
    usleep(20000);
    asked = milliseconds();
    dispatch_async_f(queue, done, probe);
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  }
  finish(delays / 100, worst, threads());
}

static void resubmit(void *queue) {
  compute_for(0.05);
  dispatch_async_f(queue, queue, resubmit);
}

static void run_beside_resubmitting(int count) {
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  for (int i = 0; i < count; i++) dispatch_async_f(queue, queue, resubmit);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  double begin = milliseconds();
  int probes = 0;
  while (milliseconds() < begin + 1000) {
    asked = milliseconds();
    dispatch_async_f(queue, done, probe);
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    probes++;
  }
  finish(delays / probes, worst, threads());
}

static void nothing(void *context) { (void)context; }

static void *sync_to_main(void *context) {
  dispatch_queue_t main_queue = dispatch_get_main_queue();
  for (int i = 0; i < 1000; i++) dispatch_sync_f(main_queue, NULL, nothing);
  double begin = milliseconds();
  for (int i = 0; i < 20000; i++) dispatch_sync_f(main_queue, NULL, nothing);
  finish((milliseconds() - begin) / 20000, 0, threads());
  return context;
}

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  pthread_t other;
  if (!strcmp(argv[1], "sleep")) run_items(argv[2], nap);
  if (!strcmp(argv[1], "compute")) run_items(argv[2], compute);
  if (!strcmp(argv[1], "probe")) run_probes(atoi(argv[2]));
  if (!strcmp(argv[1], "resubmit")) run_beside_resubmitting(atoi(argv[2]));
  if (!strcmp(argv[1], "main") && !pthread_create(&other, NULL, sync_to_main, NULL)) {
    dispatch_main();
  }
  return 64;
}
