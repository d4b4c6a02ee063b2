#define _GNU_SOURCE
#include "Descriptors.h"
#include "GrandCentralReadiness.h"
#include "GrandCentralSynchronization.h"
#include "GrandCentralThread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

__thread gc_thread *gc_thread_self __attribute__((tls_model("initial-exec")));

uint32_t gc_thread_id(void) { return (uint32_t)syscall(SYS_gettid); }
uint32_t gc_process_id(void) { return (uint32_t)getpid(); }
void gc_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

bool gc_is_watched_for_races(void) { return __tsan_acquire && __tsan_release; }

static int futex_wait(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  int operation = FUTEX_WAIT_BITSET_PRIVATE | (realtime ? FUTEX_CLOCK_REALTIME : 0);
  long result = syscall(
      SYS_futex, word, operation, expected, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

static bool is_before(const struct timespec *one, const struct timespec *other) {
  return one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec
                                      : one->tv_nsec < other->tv_nsec;
}

// The same in a program with the thread sanitizer, which calls a signal's handler late: when the
// thread next leaves a function that the sanitizer intercepts, or at once within a call that may
// block. A bare system call is neither, so a thread that sleeps in one would never run the handler.
// With a deadline, the kernel ends the sleep when a signal has come (EINTR, also with SA_RESTART).
// One that comes just before the call does not end it: that handler runs at the end of the turn.
static int futex_wait_watched(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  enum { TURN_NANOSECONDS = 200000000, SECOND_NANOSECONDS = 1000000000 };
  struct timespec turn;
  clock_gettime(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, &turn);
  turn.tv_nsec += TURN_NANOSECONDS;
  if (turn.tv_nsec >= SECOND_NANOSECONDS) {
    turn.tv_nsec -= SECOND_NANOSECONDS;
    turn.tv_sec++;
  }
  bool is_last = deadline && !is_before(&turn, deadline);
  int error = futex_wait(word, expected, is_last ? deadline : &turn, realtime);
  // An intercepted call: it does nothing, and handlers run at its end.
  struct timespec nothing = {0};
  nanosleep(&nothing, NULL);
  return error == ETIMEDOUT && !is_last ? EINTR : error;
}

int gc_futex_wait(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  return gc_is_watched_for_races() ? futex_wait_watched(word, expected, deadline, realtime)
                                   : futex_wait(word, expected, deadline, realtime);
}

void gc_futex_wake(const void *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void gc_order_release(void *address) {
  if (__tsan_release) __tsan_release(address);
}

void gc_order_acquire(void *address) {
  if (__tsan_acquire) __tsan_acquire(address);
}

int gc_eventfd(void) { return above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void gc_descriptor_move(int descriptor, int other) {
  // EBUSY cannot occur, because no other thread opens a descriptor meanwhile. dup3(2).
  dup3(descriptor, other, O_CLOEXEC);
  close(descriptor);
}

int gc_epoll_make(void) { return above_standard(epoll_create1(EPOLL_CLOEXEC)); }

static int epoll_control(int set, int operation, int descriptor, uint32_t events, uint64_t key) {
  struct epoll_event event = {.events = events, .data.u64 = key};
  return epoll_ctl(set, operation, descriptor, &event) == 0 ? 0 : errno;
}

int gc_epoll_add(int set, int descriptor, uint32_t events, uint64_t key) {
  return epoll_control(set, EPOLL_CTL_ADD, descriptor, events, key);
}

int gc_epoll_change(int set, int descriptor, uint32_t events, uint64_t key) {
  return epoll_control(set, EPOLL_CTL_MOD, descriptor, events, key);
}

int gc_epoll_remove(int set, int descriptor) {
  return epoll_control(set, EPOLL_CTL_DEL, descriptor, 0, 0);
}

int gc_epoll_wait(int set, gc_readiness *ready, int timeout_milliseconds) {
  struct epoll_event events[GC_READINESS_BATCH];
  int count = epoll_wait(set, events, GC_READINESS_BATCH, timeout_milliseconds);
  for (int index = 0; index < count; index++)
    ready[index] = (gc_readiness){.key = events[index].data.u64, .events = events[index].events};
  return count;
}

int gc_poll_now(int descriptor, int events) {
  struct pollfd entry = {.fd = descriptor, .events = (short)events};
  return poll(&entry, 1, 0) < 0 ? -1 : entry.revents;
}

int gc_timer_make(bool realtime) {
  return above_standard(timerfd_create(
      realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

void gc_timer_set(int timer, uint64_t nanoseconds) {
  struct itimerspec when = {
      .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                   .tv_nsec = (long)(nanoseconds % 1000000000)}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

int gc_inotify_make(void) { return above_standard(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)); }

int gc_inotify_watch(int instance, const char *path, uint32_t mask) {
  int number = inotify_add_watch(instance, path, mask);
  return number < 0 ? -errno : number;
}

int gc_inotify_unwatch(int instance, int number) {
  return inotify_rm_watch(instance, number) == 0 ? 0 : errno;
}

static int control_number(int descriptor, unsigned long request) {
  int number = 0;
  return ioctl(descriptor, request, &number) < 0 ? -1 : number;
}

int gc_readable_bytes(int descriptor) { return control_number(descriptor, FIONREAD); }
int gc_unsent_bytes(int descriptor) { return control_number(descriptor, SIOCOUTQ); }
int gc_pipe_bytes(int descriptor) { return fcntl(descriptor, F_GETPIPE_SZ); }

int gc_affinity_count(uint32_t thread) {
  // Room for 1,024 CPUs, which saves an allocation on most machines.
  cpu_set_t usual;
  CPU_ZERO(&usual);
  if (sched_getaffinity((pid_t)thread, sizeof usual, &usual) == 0) return CPU_COUNT(&usual);
  if (errno != EINVAL) return -1;
  // EINVAL: the mask is smaller than the kernel's, so it grows until it fits.
  for (size_t bytes = 256; bytes <= 65536; bytes *= 2) {
    cpu_set_t *set = calloc(1, bytes);
    if (!set) return -1;
    int result = sched_getaffinity((pid_t)thread, bytes, set);
    int count = result == 0 ? CPU_COUNT_S(bytes, set) : -1;
    free(set);
    if (result == 0) return count;
    if (errno != EINVAL) return -1;
  }
  return -1;
}

int64_t gc_thread_cpu_nanoseconds(uint32_t tid) {
  // The kernel's encoding of a per-thread CPU clock (clock_getres(2), pthread_getcpuclockid(3)).
  clockid_t clock = (clockid_t)((~tid << 3) | 6u);
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return -1;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
