// There are no sources of processes
//
// On macOS a source reports that a process has ended. The library for Linux has no such type, so
// programs there start a thread for each child, or poll.
#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "Promise.h"

extern char **environ;
enum { PROC_EXIT = 0x80000000 };

static void body(void) {
  // Looked up, so that the program starts on either library.
  dispatch_source_type_t type = dlsym(RTLD_DEFAULT, "_dispatch_source_type_proc");
  if (!type) decide(false, "the library has no type of sources for processes");
  char *arguments[] = {"sleep", "1000", NULL};
  pid_t child;
  if (posix_spawnp(&child, "sleep", NULL, NULL, arguments, environ) != 0) {
    decide(false, "sleep(1) could not be started");
  }
  dispatch_queue_t queue = dispatch_queue_create("com.example.children", NULL);
  dispatch_source_t source = dispatch_source_create(type, (uintptr_t)child, PROC_EXIT, queue);
  if (!source) decide(false, "the source cannot be created");
  dispatch_source_set_registration_handler(source, ^{ kill(child, SIGTERM); });
  dispatch_source_set_event_handler(source, ^{
    unsigned long data = dispatch_source_get_data(source);
    DECIDE(data & PROC_EXIT, "the source delivered 0x%lx", data);
  });
  awaiting("the event of the child's end");
  dispatch_resume(source);
  for (;;) pause();
}

int main(void) { promise("a source reports that a child process has ended", body); }
