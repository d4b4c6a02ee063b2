// An idle process wakes up again and again
//
// After its work a process waits. A pool whose threads or monitor look around at intervals keeps
// the CPU from resting, in every process of the machine.
#include <dirent.h>
#include <dispatch/dispatch.h>
#include <stdlib.h>
#include <unistd.h>

#include "Promise.h"

// How often the threads of the process have gone to sleep by themselves.
static long sleeps(void) {
  long sum = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(tasks));) {
    char path[300], line[200];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    bool is_other = entry->d_name[0] != '.' && atoi(entry->d_name) != gettid();
    FILE *file = is_other ? fopen(path, "r") : NULL;
    long count;
    while (file && fgets(line, sizeof line, file)) {
      if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1) sum += count;
    }
    if (file) fclose(file);
  }
  closedir(tasks);
  return sum;
}

static void body(void) {
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < 100; i++) {
    dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{ sleep_ms(1); });
  }
  awaiting("the work");
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  awaiting("the idle seconds");
  // The pool may take a while to come to rest.
  long count = -1;
  for (int second = 0; second < 8 && count != 0; second++) {
    int threads = thread_count();
    long before = sleeps();
    sleep_ms(2000);
    count = thread_count() == threads ? sleeps() - before : -1;
  }
  DECIDE(count == 0, "wake-ups in two idle seconds: %ld", count);
}

int main(void) { promise("a process without work comes to rest and is not woken", body); }
