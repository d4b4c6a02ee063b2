// What every process of the tests begins with, before main().
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CFaults.h"

// A line is out when it is written: of a run that had to be ended the last lines are what one wants to see.
static void write_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

// Nobody limits how long an exit test's child takes, and one that hangs would be waited for without end. It has twice
// the time that anything in it waits for; then the kernel ends it, whatever it blocks.
static void limit_exit_test(void) {
  if (!getenv("SWT_EXIT_TEST_ID")) return;
  const char *patience = getenv("GRANDCENTRAL_PATIENCE");
  long seconds = patience ? strtol(patience, NULL, 10) : 60;
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
  // _Fork: what else is to be done at a fork is not the matter here.
  pid_t tracer = _Fork();
  if (tracer == 0) {
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(is_permitted[0], &byte, 1) != 1) _exit(1);
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL)) _exit(1);
    while (1) pause();
  }
  if (tracer < 0) return;
  prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
  if (write(is_permitted[1], "", 1) == 1) waitpid(tracer, NULL, 0);
}
