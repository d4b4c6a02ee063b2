// Runs before main() in every process of the tests.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CFaults.h"

size_t faults_heap_bytes(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

// Writes each line at once, so that the last lines of a run that was killed are not lost.
static void write_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

// Limits an exit test's child, for which the test library sets no limit. After twice the longest
// timeout of its waits the kernel kills a child that hangs, whatever signals it blocks.
static void limit_exit_test(void) {
  if (!getenv("SWT_EXIT_TEST_ID")) return;
  const char *deadline = getenv("GRANDCENTRAL_DEADLINE");
  long seconds = deadline ? strtol(deadline, NULL, 10) : 60;
  struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {.it_value.tv_sec = 2 * seconds};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) == 0) timer_settime(timer, 0, &when, NULL);
}

__attribute__((constructor)) static void begin(void) {
  write_lines();
  limit_exit_test();
}

void faults_stop_own_thread(void) {
  pid_t thread = gettid();
  int is_permitted[2];
  if (pipe(is_permitted)) return;
  // _Fork runs no fork handlers, which are not under test here.
  pid_t tracer = _Fork();
  if (tracer == 0) {
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(is_permitted[0], &byte, 1) != 1) _exit(1);
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL)) _exit(1);
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL)) _exit(1);
    while (1) pause();
  }
  if (tracer < 0) return;
  prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
  if (write(is_permitted[1], "", 1) != 1) return;
  while (waitpid(tracer, NULL, 0) < 0 && errno == EINTR) {}
}
