// Times the same work on copies of libdispatch.so in turn, in one process: scripts/dev unrecorded.
//
//   copies ROUNDS LIBRARY…     loads them in this order
//
// Prints a line a round and row: the row's name, and nanoseconds of CPU time of an item on each
// copy. Each copy is an engine of its own. While one is timed, the workers of the others sleep.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_COPIES = 4, WARM_UP = 20 };

typedef void (*function)(void *);

typedef struct {
  void *(*create)(const char *, void *);
  void *(*global)(intptr_t, uintptr_t);
  void *(*group)(void);
  void (*async)(void *, void *, function);
  void (*sync)(void *, void *, function);
  void (*group_async)(void *, void *, void *, function);
  intptr_t (*wait)(void *, uint64_t);
  void (*suspend)(void *);
  void (*resume)(void *);
  void *serial, *concurrent, *members;
} copy;

static void *symbol(void *library, const char *name) {
  void *address = dlsym(library, name);
  if (address == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(70);
  }
  return address;
}

static copy load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(70);
  }
  copy it = {
    .create = symbol(library, "dispatch_queue_create"),
    .global = symbol(library, "dispatch_get_global_queue"),
    .group = symbol(library, "dispatch_group_create"),
    .async = symbol(library, "dispatch_async_f"),
    .sync = symbol(library, "dispatch_sync_f"),
    .group_async = symbol(library, "dispatch_group_async_f"),
    .wait = symbol(library, "dispatch_group_wait"),
    .suspend = symbol(library, "dispatch_suspend"),
    .resume = symbol(library, "dispatch_resume"),
  };
  it.serial = it.create("serial", NULL);
  it.concurrent = it.create("concurrent", symbol(library, "_dispatch_queue_attr_concurrent"));
  it.members = it.group();
  return it;
}

static void nothing(void *context) { (void)context; }

static void sync_idle(copy *it, int count) {
  for (int n = 0; n < count; n++) it->sync(it->serial, NULL, nothing);
}

static void async_serial(copy *it, int count) {
  for (int n = 0; n < count; n++) it->async(it->serial, NULL, nothing);
  it->sync(it->serial, NULL, nothing);
}

static void async_suspended(copy *it, int count) {
  it->suspend(it->serial);
  for (int n = 0; n < count; n++) it->async(it->serial, NULL, nothing);
  it->resume(it->serial);
  it->sync(it->serial, NULL, nothing);
}

static void in_group(copy *it, void *queue, int count) {
  for (int n = 0; n < count; n++) it->group_async(it->members, queue, NULL, nothing);
  it->wait(it->members, UINT64_MAX);
}

static void group_global(copy *it, int count) { in_group(it, it->global(0, 0), count); }
static void group_concurrent(copy *it, int count) { in_group(it, it->concurrent, count); }

static const struct {
  const char *name;
  void (*run)(copy *, int);
  int count;
} rows[] = {
  { "sync, idle serial queue", sync_idle, 4000 },
  { "async, serial queue", async_serial, 2000 },
  { "async, serial queue, suspended", async_suspended, 2000 },
  { "async in a group, global queue", group_global, 1000 },
  { "async in a group, concurrent queue", group_concurrent, 1000 },
};

static double cpu_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int count, char **arguments) {
  int copies = count - 2;
  if (copies < 1 || copies > MOST_COPIES) return 64;
  int rounds = atoi(arguments[1]);
  copy all[MOST_COPIES];
  for (int n = 0; n < copies; n++) all[n] = load(arguments[2 + n]);
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    for (int round = -WARM_UP; round < rounds; round++) {
      double each[MOST_COPIES];
      for (int turn = 0; turn < copies; turn++) {
        int at = (turn + round + WARM_UP) % copies;
        double begin = cpu_nanoseconds();
        rows[row].run(&all[at], rows[row].count);
        each[at] = (cpu_nanoseconds() - begin) / rows[row].count;
        // The workers park: they search for some microseconds, which would count for the next copy.
        usleep(150);
      }
      if (round < 0) continue;
      printf("%s", rows[row].name);
      for (int n = 0; n < copies; n++) printf("\t%.3f", each[n]);
      printf("\n");
    }
  }
  return 0;
}
