// What every process of the tests begins with, before main().
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
