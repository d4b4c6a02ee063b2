// A program that starts children from items, and programs in its own place. The first argument
// chooses where; the second is a library that prints the mask of a shell, which sets its own mask.
// SIGUSR2 is blocked before the engine starts: it stands for the program's own mask.
#define _GNU_SOURCE
#include "Signals.h"

#include <dispatch/dispatch.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

// The commands print the mask that they start with.
static char *report[] = {"grep", "SigBlk", "/proc/self/status", NULL};
static const char *shell_report;

static void label(const char *name) {
  printf("%s ", name);
  fflush(stdout);
}

static void *spawn_on_a_thread(void *context) {
  (void)context;
  pid_t child;
  if (posix_spawnp(&child, "grep", NULL, NULL, report, environ) != 0) fail("posix_spawnp");
  await(child);
  return NULL;
}

// What a child made by fork(2) that starts no other program blocks.
static void print_own_mask(void) {
  char line[256];
  FILE *status = fopen("/proc/thread-self/status", "r");
  while (fgets(line, sizeof line, status))
    if (strncmp(line, "SigBlk", 6) == 0) fputs(line, stdout);
  fflush(stdout);
}

static void start_children(void *context) {
  (void)context;
  pid_t child;
  label("posix_spawn");
  if (posix_spawn(&child, "/bin/grep", NULL, NULL, report, environ) != 0) fail("posix_spawn");
  await(child);
  label("posix_spawnp");
  if (posix_spawnp(&child, "grep", NULL, NULL, report, environ) != 0) fail("posix_spawnp");
  await(child);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  label("attributes");
  if (posix_spawn(&child, "/bin/grep", NULL, &attributes, report, environ) != 0) fail("spawn");
  await(child);
  short flags;
  posix_spawnattr_getflags(&attributes, &flags);
  if (flags != POSIX_SPAWN_SETPGROUP) fail("the caller's attributes have changed");

  sigset_t chosen;
  sigemptyset(&chosen);
  sigaddset(&chosen, SIGINT);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &chosen);
  label("chosen");
  if (posix_spawn(&child, "/bin/grep", NULL, &attributes, report, environ) != 0) fail("spawn");
  await(child);
  posix_spawnattr_destroy(&attributes);

  setenv("LD_PRELOAD", shell_report, 1);
  label("system");
  if (system("true") != 0) fail("system");
  label("popen");
  FILE *stream = popen("true", "r");
  char line[256];
  if (!fgets(line, sizeof line, stream) || pclose(stream) != 0) fail("popen");
  fputs(line, stdout);
  unsetenv("LD_PRELOAD");

  label("fork");
  if ((child = fork()) == 0) {
    print_own_mask();
    _exit(0);
  }
  await(child);
  label("grandchild");
  if ((child = fork()) == 0) {
    if (posix_spawnp(&child, "grep", NULL, NULL, report, environ) != 0) _exit(127);
    await(child);
    _exit(0);
  }
  await(child);
  label("fork+execv");
  if ((child = fork()) == 0) {
    execv("/bin/grep", report);
    _exit(127);
  }
  await(child);
  label("fork+execl");
  if ((child = fork()) == 0) {
    execl("/bin/grep", "grep", "SigBlk", "/proc/self/status", NULL);
    _exit(127);
  }
  await(child);
  // A program that blocks all signals around a fork, and restores what it had.
  label("restored");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if ((child = fork()) == 0) {
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    execvp("grep", report);
    _exit(127);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  await(child);
  label("vfork+execlp");
  if ((child = vfork()) == 0) {
    execlp("grep", "grep", "SigBlk", "/proc/self/status", NULL);
    _exit(127);
  }
  await(child);
  label("vfork+execle");
  if ((child = vfork()) == 0) {
    execle("/bin/grep", "grep", "SigBlk", "/proc/self/status", NULL, environ);
    _exit(127);
  }
  await(child);
  label("vfork+execve");
  if ((child = vfork()) == 0) {
    execve("/bin/no-such-program", report, environ);
    execve("/bin/grep", report, environ);
    _exit(127);
  }
  await(child);
  label("vfork+fexecve");
  int file = open("/bin/grep", O_RDONLY | O_CLOEXEC);
  if ((child = vfork()) == 0) {
    fexecve(file, report, environ);
    _exit(127);
  }
  await(child);
  label("vfork+execveat");
  if ((child = vfork()) == 0) {
    execveat(file, "", report, environ, AT_EMPTY_PATH);
    _exit(127);
  }
  await(child);
  close(file);
  // The item's own mask wins.
  label("one blocked");
  sigset_t one = block(SIGPIPE);
  if (posix_spawnp(&child, "grep", NULL, NULL, report, environ) != 0) fail("posix_spawnp");
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  await(child);
  label("all blocked");
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (posix_spawnp(&child, "grep", NULL, NULL, report, environ) != 0) fail("posix_spawnp");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  await(child);

  label("from a thread");
  pthread_t thread;
  pthread_create(&thread, NULL, spawn_on_a_thread, NULL);
  pthread_join(thread, NULL);

  label("thread");
  print_own_mask();
  exit(0);
}

static void start_on(dispatch_queue_t queue) { dispatch_async_f(queue, NULL, start_children); }

static void start_in_a_timer(void) {
  dispatch_source_t timer = dispatch_source_create(
      DISPATCH_SOURCE_TYPE_TIMER, 0, 0, dispatch_queue_create("timer", NULL));
  dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, NSEC_PER_SEC, 0);
  dispatch_source_set_event_handler_f(timer, start_children);
  dispatch_activate(timer);
}

// Replaces this program, as a server does that reads its settings anew.
static void replace(void *context) {
  (void)context;
  label("exec");
  execvp("grep", report);
  fail("execvp");
}

static bool is_pending(int number) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, number) == 1;
}

// The default action would end the process.
static void raise_blocked(void *context) {
  (void)context;
  block(SIGUSR1);
  raise(SIGUSR1);
  printf("pending=%d\n", is_pending(SIGUSR1));
  exit(0);
}

static void finish(void *semaphore) { dispatch_semaphore_signal(semaphore); }

// A thread that has a signal pending starts the engine's first thread.
static void *submit_first(void *context) {
  (void)context;
  block(SIGPIPE);
  raise(SIGPIPE);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_async_f(dispatch_get_global_queue(0, 0), done, finish);
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  printf("pending=%d\n", is_pending(SIGPIPE));
  return NULL;
}

static void submit_on_a_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, submit_first, NULL);
  pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  shell_report = count > 2 ? arguments[2] : "";
  block(SIGUSR2);
  if (strcmp(what, "pending") == 0) {
    submit_on_a_thread();
    return 0;
  }
  if (strcmp(what, "global") == 0) start_on(dispatch_get_global_queue(0, 0));
  else if (strcmp(what, "serial") == 0) start_on(dispatch_queue_create("serial", NULL));
  else if (strcmp(what, "timer") == 0) start_in_a_timer();
  else if (strcmp(what, "main") == 0) start_on(dispatch_get_main_queue());
  else if (strcmp(what, "exec") == 0)
    dispatch_async_f(dispatch_get_global_queue(0, 0), NULL, replace);
  else if (strcmp(what, "raise") == 0)
    dispatch_async_f(dispatch_get_global_queue(0, 0), NULL, raise_blocked);
  else return 64;
  dispatch_main();
}
