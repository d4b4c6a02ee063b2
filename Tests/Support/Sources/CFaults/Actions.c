// The program's own signal actions, which signal sources find installed and must preserve.
#define _GNU_SOURCE
#include "CFaults.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALS = 65 };

static _Atomic uint64_t deliveries[SIGNALS];
static _Atomic int64_t values[SIGNALS];
static struct sigaction below[SIGNALS];

static void count(int number) { atomic_fetch_add(&deliveries[number], 1); }

static void count_value(int number, siginfo_t *info, void *context) {
  (void)context;
  count(number);
  atomic_fetch_add(&values[number], info->si_value.sival_int);
}

static void pass_on(int number, siginfo_t *info, void *context) {
  count(number);
  if (below[number].sa_flags & SA_SIGINFO)
    below[number].sa_sigaction(number, info, context);
  else if (below[number].sa_handler != SIG_DFL && below[number].sa_handler != SIG_IGN)
    below[number].sa_handler(number);
}

int faults_set_action(int number, faults_action action, int flags) {
  return faults_set_blocking_action(number, action, flags, 0);
}

int faults_set_blocking_action(int number, faults_action action, int flags, uint64_t blocked) {
  struct sigaction next;
  memset(&next, 0, sizeof next);
  next.sa_flags = flags;
  sigemptyset(&next.sa_mask);
  for (int other = 1; other < SIGNALS; other++)
    if (blocked >> (other - 1) & 1) sigaddset(&next.sa_mask, other);
  switch (action) {
  case FAULTS_IGNORED: next.sa_handler = SIG_IGN; break;
  case FAULTS_COUNTED: next.sa_handler = count; break;
  case FAULTS_COUNTED_WITH_VALUE:
    next.sa_sigaction = count_value;
    next.sa_flags |= SA_SIGINFO;
    break;
  case FAULTS_PASSED_ON:
    next.sa_sigaction = pass_on;
    next.sa_flags |= SA_SIGINFO;
    if (sigaction(number, NULL, &below[number])) return errno;
    break;
  default: next.sa_handler = SIG_DFL;
  }
  return sigaction(number, &next, NULL) ? errno : 0;
}

faults_action faults_action_of(int number) {
  struct sigaction now;
  if (sigaction(number, NULL, &now)) return FAULTS_OTHER;
  if (now.sa_flags & SA_SIGINFO) {
    if (now.sa_sigaction == count_value) return FAULTS_COUNTED_WITH_VALUE;
    return now.sa_sigaction == pass_on ? FAULTS_PASSED_ON : FAULTS_OTHER;
  }
  if (now.sa_handler == SIG_DFL) return FAULTS_DEFAULT;
  if (now.sa_handler == SIG_IGN) return FAULTS_IGNORED;
  return now.sa_handler == count ? FAULTS_COUNTED : FAULTS_OTHER;
}

int faults_action_flags(int number) {
  struct sigaction now;
  if (sigaction(number, NULL, &now)) return -1;
  return now.sa_flags & (int)(SA_RESTART | SA_NODEFER | SA_RESETHAND | SA_ONSTACK | SA_NOCLDWAIT);
}

uint64_t faults_action_blocks(int number) {
  struct sigaction now;
  uint64_t blocked = 0;
  if (sigaction(number, NULL, &now)) return 0;
  for (int other = 1; other < SIGNALS; other++)
    if (sigismember(&now.sa_mask, other) == 1) blocked |= (uint64_t)1 << (other - 1);
  return blocked;
}

void faults_fill_stack(int value) {
  int values[2048];
  for (int index = 0; index < 2048; index++) values[index] = value;
  __asm__ volatile("" : : "r"(values) : "memory");
}

uint64_t faults_deliveries(int number) { return atomic_load(&deliveries[number]); }
int64_t faults_values(int number) { return atomic_load(&values[number]); }

int faults_queue(int number, int value) {
  union sigval sent = {.sival_int = value};
  // The thread sanitizer delays a signal until its thread makes an intercepted call.
  if (faults_is_thread_sanitized()) return pthread_sigqueue(pthread_self(), number, sent);
  return sigqueue(getpid(), number, sent) ? errno : 0;
}

int faults_fork_and_raise(int number, int seconds) {
  pid_t child = fork();
  if (child == 0) {
    raise(number);
    _exit(0);
  }
  return child < 0 ? -1 : faults_status_of(child, seconds);
}

bool faults_has_exited(int process) {
  siginfo_t info;
  int error;
  do error = waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) ? errno : 0;
  while (error == EINTR);
  return error == 0;
}

void faults_touch_nothing(void) {
  volatile int *nothing = (volatile int *)(uintptr_t)64;
  *nothing = 1;
}
