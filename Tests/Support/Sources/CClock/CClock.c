#define _GNU_SOURCE
#include "CClock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t offset;
static _Atomic uint64_t sleeps;

static void nothing(int number) { (void)number; }

typedef long (*syscall_function)(long, ...);

// The C library's syscall(), looked up at the first call, which precedes constructors.
static long real_syscall(long number, long a, long b, long c, long d, long e, long f) {
  static _Atomic(syscall_function) found;
  syscall_function function = atomic_load(&found);
  if (!function) {
    function = (syscall_function)dlsym(RTLD_NEXT, "syscall");
    atomic_store(&found, function);
  }
  return function(number, a, b, c, d, e, f);
}

// The executable's definitions take precedence over the C library's.
int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)real_syscall(SYS_clock_gettime, clock, (long)now, 0, 0, 0, 0);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += atomic_load(&offset);
  return result;
}

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && (b & FUTEX_CLOCK_REALTIME) && d) {
    struct timespec deadline = *(const struct timespec *)d;
    deadline.tv_sec -= atomic_load(&offset);
    atomic_fetch_add(&sleeps, 1);
    return real_syscall(number, a, b, c, (long)&deadline, e, f);
  }
  return real_syscall(number, a, b, c, d, e, f);
}

// Timers on the wall clock, with their times by this file's clock. The kernel adjusts timers when
// the clock is set; here cclock_step() does.
enum { MOST_TIMERS = 16 };
static struct wall_timer {
  int descriptor;
  int flags;
  struct itimerspec when;
} timers[MOST_TIMERS];
static _Atomic int timer_count;
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;

int timerfd_create(clockid_t clock, int flags) {
  int made = (int)real_syscall(SYS_timerfd_create, clock, flags, 0, 0, 0, 0);
  if (made < 0 || clock != CLOCK_REALTIME) return made;
  pthread_mutex_lock(&timer_lock);
  if (timer_count < MOST_TIMERS) timers[timer_count++] = (struct wall_timer){.descriptor = made};
  pthread_mutex_unlock(&timer_lock);
  return made;
}

static int set_timer(const struct wall_timer *timer) {
  struct itimerspec when = timer->when;
  if (when.it_value.tv_sec > 0) {
    when.it_value.tv_sec -= atomic_load(&offset);
    // A time before 1970 has passed; 0 would disarm the timer.
    if (when.it_value.tv_sec < 1) when.it_value.tv_sec = 1;
  }
  return (int)real_syscall(
      SYS_timerfd_settime, timer->descriptor, timer->flags, (long)&when, 0, 0, 0);
}

int timerfd_settime(
    int descriptor, int flags, const struct itimerspec *when, struct itimerspec *before) {
  pthread_mutex_lock(&timer_lock);
  int result = -1;
  for (int index = 0; index < timer_count; index++)
    if (timers[index].descriptor == descriptor) {
      timers[index].flags = flags;
      timers[index].when = *when;
      result = set_timer(&timers[index]);
      pthread_mutex_unlock(&timer_lock);
      return result;
    }
  pthread_mutex_unlock(&timer_lock);
  return (int)real_syscall(
      SYS_timerfd_settime, descriptor, flags, (long)when, (long)before, 0, 0);
}

uint64_t cclock_sleeps(void) { return atomic_load(&sleeps); }

void cclock_step(int64_t seconds) {
  atomic_fetch_add(&offset, seconds);
  pthread_mutex_lock(&timer_lock);
  for (int index = 0; index < timer_count; index++) set_timer(&timers[index]);
  pthread_mutex_unlock(&timer_lock);
  // The kernel re-examines its sleepers when the clock is set. Here a signal wakes them instead.
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = nothing;
  sigaction(SIGUSR2, &action, NULL);
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return;
  long self = real_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
  struct dirent *entry;
  while ((entry = readdir(folder))) {
    long thread = atol(entry->d_name);
    if (thread > 0 && thread != self) real_syscall(SYS_tgkill, getpid(), thread, SIGUSR2, 0, 0, 0);
  }
  closedir(folder);
}
