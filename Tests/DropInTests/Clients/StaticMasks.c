// Starts children on a thread of the engine in a program that is linked statically, with only those
// files of the engine that this needs. Each child prints its mask. The argument is a library that
// prints the mask of a shell, which sets one of its own.
#define _GNU_SOURCE
#include "CGrandCentralLinux.h"

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *report[] = {"grep", "SigBlk", "/proc/self/status", NULL};
static const char *shell_report;
static sem_t done;

static void fail(const char *what) {
  printf("failed: %s\n", what);
  exit(1);
}

static void label(const char *name) {
  printf("%s ", name);
  fflush(stdout);
}

static void await(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (status != 0) fail("a child");
}

#define IN_CHILD(name, call) \
  label(name); \
  if ((child = fork()) == 0) { \
    call; \
    _exit(127); \
  } \
  await(child)

static void *start_children(void *context) {
  pid_t child;
  label("posix_spawn");
  if (posix_spawn(&child, "/bin/grep", NULL, NULL, report, environ) != 0) fail("posix_spawn");
  await(child);
  label("posix_spawnp");
  if (posix_spawnp(&child, "grep", NULL, NULL, report, environ) != 0) fail("posix_spawnp");
  await(child);
  setenv("LD_PRELOAD", shell_report, 1);
  label("system");
  if (system("true") != 0) fail("system");
  label("popen");
  FILE *stream = popen("true", "r");
  char line[256];
  if (!stream || !fgets(line, sizeof line, stream) || pclose(stream) != 0) fail("popen");
  fputs(line, stdout);
  unsetenv("LD_PRELOAD");
  IN_CHILD("execve", execve("/bin/grep", report, environ));
  IN_CHILD("execvp", execvp("grep", report));
  IN_CHILD("execl", execl("/bin/grep", "grep", "SigBlk", "/proc/self/status", NULL));
  int file = open("/bin/grep", O_RDONLY | O_CLOEXEC);
  IN_CHILD("fexecve", fexecve(file, report, environ));
  IN_CHILD("execveat", execveat(file, "", report, environ, AT_EMPTY_PATH));
  close(file);
  printf("missing=%d\n", posix_spawnp(&child, "no-such-program", NULL, NULL, report, environ));
  sem_post(&done);
  return context;
}

int main(int count, char **arguments) {
  shell_report = count > 1 ? arguments[1] : "";
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  sem_init(&done, 0, 0);
  if (gc_thread_spawn(start_children, NULL, 0) != 0) fail("gc_thread_spawn");
  while (sem_wait(&done) != 0) {}
  return 0;
}
