// The calling thread, and calls that Swift does not offer, without the engine's wrappers.
#define _GNU_SOURCE
#include "CFaults.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

int faults_thread_id(void) { return gettid(); }

void faults_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int faults_join(pthread_t thread, int seconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += seconds;
  return pthread_timedjoin_np(thread, NULL, &deadline);
}

void faults_unblock_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

// The compiler does not remove a call of another file, so a loop of calls takes time.
void faults_spin(void) {}

int faults_make_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
