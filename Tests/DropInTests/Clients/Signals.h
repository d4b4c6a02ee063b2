// What the programs of MaskTests share.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static inline void fail(const char *what) {
  printf("failed: %s\n", what);
  exit(1);
}

static inline sigset_t block(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  return set;
}

static inline void await(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (status != 0) fail("a child");
}
