// A program that receives signals on its own threads beside busy queues, and counts signals by
// sources. Its argument chooses what it does.
#define _GNU_SOURCE
#include "Signals.h"

#include <dispatch/dispatch.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void dispatch_atfork_prepare(void), dispatch_atfork_parent(void),
    dispatch_atfork_child(void);

enum { WORKERS = 8, ROUNDS = 200 };

static atomic_int busy;
static atomic_bool is_over;

static void work(void *context) {
  (void)context;
  atomic_fetch_add(&busy, 1);
  while (!atomic_load(&is_over)) {}
}

// Keeps workers busy that are older than what the program blocks later.
static void occupy_workers(void) {
  dispatch_queue_t queue = dispatch_queue_create("busy", DISPATCH_QUEUE_CONCURRENT);
  for (int index = 0; index < WORKERS; index++) dispatch_async_f(queue, NULL, work);
  while (atomic_load(&busy) < WORKERS) sched_yield();
}

static void receive_by_sigwait(void) {
  occupy_workers();
  sigset_t set = block(SIGTERM);
  int received = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int number = 0;
    kill(getpid(), SIGTERM);
    if (sigwait(&set, &number) == 0 && number == SIGTERM) received++;
  }
  printf("received=%d\n", received);
}

static void *wait_for_signals(void *context) {
  sigset_t *set = context;
  int *received = calloc(1, sizeof *received);
  while (*received < ROUNDS) {
    siginfo_t info;
    if (sigwaitinfo(set, &info) == SIGRTMIN) ++*received;
  }
  return received;
}

// The ordinary form of a server: one thread waits for the signals, all others block them.
static void receive_on_a_thread(void) {
  occupy_workers();
  sigset_t set = block(SIGRTMIN);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_signals, &set);
  for (int round = 0; round < ROUNDS; round++)
    if (sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = round}) != 0) round--;
  int *received;
  pthread_join(thread, (void **)&received);
  printf("received=%d\n", *received);
}

static int receive_by_descriptor(void) {
  sigset_t set = block(SIGHUP);
  int descriptor = signalfd(-1, &set, SFD_CLOEXEC);
  int received = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct signalfd_siginfo info;
    kill(getpid(), SIGHUP);
    if (read(descriptor, &info, sizeof info) == sizeof info && info.ssi_signo == SIGHUP)
      received++;
  }
  return received;
}

static void receive_by_signalfd(void) {
  occupy_workers();
  printf("received=%d\n", receive_by_descriptor());
}

static atomic_int handled, handled_elsewhere;
static pid_t handling_thread;

static void note(int number) {
  (void)number;
  if (gettid() == handling_thread) atomic_fetch_add(&handled, 1);
  else atomic_fetch_add(&handled_elsewhere, 1);
}

static void *handle_signals(void *context) {
  (void)context;
  handling_thread = gettid();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  while (!atomic_load(&is_over)) pause();
  return NULL;
}

// The only thread that does not block a signal runs its handler. Items sleep uninterrupted.
static void handle_on_a_thread(void) {
  struct sigaction action = {.sa_handler = note};
  sigaction(SIGALRM, &action, NULL);
  occupy_workers();
  block(SIGALRM);
  pthread_t thread;
  pthread_create(&thread, NULL, handle_signals, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    int before = atomic_load(&handled) + atomic_load(&handled_elsewhere);
    kill(getpid(), SIGALRM);
    while (atomic_load(&handled) + atomic_load(&handled_elsewhere) == before) sched_yield();
  }
  printf("received=%d elsewhere=%d\n", atomic_load(&handled), atomic_load(&handled_elsewhere));
}

// A shell says that it runs, and ends after it has read a line.
static int said[2], awaited[2];
static pid_t running_thread;

// The C library blocks all signals, its own included, until it has made a child.
static bool is_making_child(pid_t thread) {
  char path[64], line[256];
  unsigned long long mask = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
  FILE *status = fopen(path, "r");
  while (fgets(line, sizeof line, status)) sscanf(line, "SigBlk: %llx", &mask);
  fclose(status);
  return mask >> 31 & 1;
}

static void run_shell(void *context) {
  running_thread = gettid();
  char command[64];
  snprintf(
      command, sizeof command, "echo >&%d; read line <&%d; exit 3", said[1], awaited[0]);
  int status = system(command);
  printf(
      "status=%d shell=%d missing=%d\n", WEXITSTATUS(status), system(NULL),
      WEXITSTATUS(system("/bin/no-such-program 2>/dev/null")));
  dispatch_semaphore_signal(context);
}

static void receive_beside_shell(void) {
  if (pipe(said) != 0 || pipe(awaited) != 0) fail("pipe");
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_async_f(dispatch_get_global_queue(0, 0), done, run_shell);
  char byte;
  if (read(said[0], &byte, 1) != 1) fail("the shell");
  while (is_making_child(running_thread)) sched_yield();
  int received = receive_by_descriptor();
  if (write(awaited[1], "\n", 1) != 1) fail("write");
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  printf("received=%d\n", received);
}

// Signal sources, of a signal that all threads of the program block.

static atomic_int counted;
static dispatch_semaphore_t came, gone;

static void count_event(void *source) {
  atomic_fetch_add(&counted, (int)dispatch_source_get_data(source));
  dispatch_semaphore_signal(came);
}

static void note_registration(void *source) {
  (void)source;
  dispatch_semaphore_signal(came);
}

static void note_end(void *source) {
  (void)source;
  dispatch_semaphore_signal(gone);
}

static dispatch_source_t count_signals(int number) {
  if (!came) came = dispatch_semaphore_create(0), gone = dispatch_semaphore_create(0);
  dispatch_source_t source = dispatch_source_create(
      DISPATCH_SOURCE_TYPE_SIGNAL, (uintptr_t)number, 0, dispatch_queue_create("source", NULL));
  dispatch_set_context(source, source);
  dispatch_source_set_event_handler_f(source, count_event);
  dispatch_source_set_registration_handler_f(source, note_registration);
  dispatch_source_set_cancel_handler_f(source, note_end);
  dispatch_activate(source);
  dispatch_semaphore_wait(came, DISPATCH_TIME_FOREVER);
  return source;
}

static void send_counted(void *context) {
  for (int round = 0; round < ROUNDS; round++)
    if (sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = round}) != 0) round--;
  while (atomic_load(&counted) < ROUNDS) dispatch_semaphore_wait(came, DISPATCH_TIME_FOREVER);
  printf("counted=%d\n", atomic_load(&counted));
  if (context) exit(0);
}

static void count_blocked(void) {
  block(SIGRTMIN);
  count_signals(SIGRTMIN);
  send_counted(NULL);
}

// A child that the program makes past the C library's handlers, and reports itself.
static void count_in_child(void) {
  block(SIGRTMIN);
  count_signals(SIGRTMIN);
  dispatch_atfork_prepare();
  pid_t child = _Fork();
  if (child == 0) {
    dispatch_atfork_child();
    count_signals(SIGRTMIN);
    send_counted(NULL);
    fflush(stdout);
    _exit(0);
  }
  dispatch_atfork_parent();
  await(child);
}

// The main thread ends; an item sends and receives.
static void count_without_main(void) {
  count_signals(SIGRTMIN);
  dispatch_async_f(dispatch_get_global_queue(0, 0), &counted, send_counted);
  pthread_exit(NULL);
}

static void do_nothing(void *context) { (void)context; }

// The main thread ends, and what other processes send still has its default action.
static void end_without_main(void) {
  occupy_workers();
  char command[] =
      "until grep -q '^State:.Z' /proc/$PPID/task/$PPID/status; do kill -0 $PPID || exit; done;"
      "kill -TERM $PPID";
  char *arguments[] = {"sh", "-c", command, NULL};
  pid_t child;
  if (posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) != 0) fail("posix_spawnp");
  pthread_exit(NULL);
}

// Without the engine's threads, a program still ends with its last thread.
static void end_with_last_thread(void) {
  dispatch_sync_f(dispatch_queue_create("quiet", NULL), &counted, do_nothing);
  pthread_exit(NULL);
}

// After a source has ended, its signal is the program's own again: each one that comes then reaches
// sigwait(3), and none has its default action.
static void wait_after_sources(void) {
  sigset_t set = block(SIGTERM);
  int received = 0;
  for (int round = 0; round < ROUNDS; round++) {
    dispatch_source_t source = count_signals(SIGTERM);
    dispatch_source_cancel(source);
    dispatch_semaphore_wait(gone, DISPATCH_TIME_FOREVER);
    int number = 0;
    kill(getpid(), SIGTERM);
    if (sigwait(&set, &number) == 0 && number == SIGTERM) received++;
    dispatch_release(source);
  }
  printf("received=%d counted=%d\n", received, atomic_load(&counted));
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  block(SIGUSR2);
  if (strcmp(what, "sigwait") == 0) receive_by_sigwait();
  else if (strcmp(what, "thread") == 0) receive_on_a_thread();
  else if (strcmp(what, "signalfd") == 0) receive_by_signalfd();
  else if (strcmp(what, "system") == 0) receive_beside_shell();
  else if (strcmp(what, "handler") == 0) handle_on_a_thread();
  else if (strcmp(what, "source") == 0) count_blocked();
  else if (strcmp(what, "source-in-child") == 0) count_in_child();
  else if (strcmp(what, "source-without-main") == 0) count_without_main();
  else if (strcmp(what, "end-without-main") == 0) end_without_main();
  else if (strcmp(what, "last-thread") == 0) end_with_last_thread();
  else if (strcmp(what, "after-sources") == 0) wait_after_sources();
  else return 64;
  atomic_store(&is_over, true);
  return 0;
}
