// Children that an item starts ignore SIGTERM
//
// The library's threads block all signals, and a child process inherits the mask of the thread
// that starts it. So a program started from an item cannot be terminated in the ordinary way.
#include <dispatch/dispatch.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Promise.h"

extern char **environ;

static void start_and_terminate(void) {
  char *arguments[] = {"sleep", "1000", NULL};
  pid_t child;
  if (posix_spawnp(&child, "sleep", NULL, NULL, arguments, environ) != 0) {
    decide(false, "sleep(1) could not be started");
  }
  struct pollfd polled = {pidfd_open(child, 0), POLLIN, 0};
  awaiting("the child's end");
  kill(child, SIGTERM);
  int count = poll(&polled, 1, 10000);
  kill(child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
  const char *effect = count == 1 ? "ended the child" : "did not end it in ten seconds";
  DECIDE(count == 1, "SIGTERM %s", effect);
}

static void body(void) {
  dispatch_async(dispatch_get_global_queue(0, 0), ^{ start_and_terminate(); });
  for (;;) pause();
}

int main(void) { promise("SIGTERM ends a child that an item of a queue has started", body); }
