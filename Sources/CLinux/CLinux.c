#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread gc_thread *gc_thread_self __attribute__((tls_model("initial-exec")));

// One key serves every caller: its value is a list of (value, destructor) pairs of the thread.
struct exit_entry {
  struct exit_entry *next;
  void *value;
  void (*destructor)(void *);
};

static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static int exit_key_error;

static void run_exit_entries(void *list) {
  struct exit_entry *entry = list;
  while (entry) {
    struct exit_entry *next = entry->next;
    entry->destructor(entry->value);
    free(entry);
    entry = next;
  }
}

static void make_exit_key(void) { exit_key_error = pthread_key_create(&exit_key, run_exit_entries); }

int gc_thread_at_exit(void *value, void (*destructor)(void *)) {
  pthread_once(&exit_once, make_exit_key);
  if (exit_key_error) return exit_key_error;
  struct exit_entry *entry = malloc(sizeof *entry);
  if (!entry) return ENOMEM;
  entry->next = pthread_getspecific(exit_key);
  entry->value = value;
  entry->destructor = destructor;
  int error = pthread_setspecific(exit_key, entry);
  if (error) free(entry);
  return error;
}

int gc_thread_spawn(void *(*body)(void *), void *argument, size_t stack_bytes) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  error = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

void gc_thread_set_signal_mask(uint64_t blocked) {
  sigset_t set;
  sigemptyset(&set);
  for (int number = 1; number <= 64; number++)
    if (blocked >> (number - 1) & 1) sigaddset(&set, number);
  pthread_sigmask(SIG_SETMASK, &set, NULL);
}

uint32_t gc_thread_id(void) { return (uint32_t)syscall(SYS_gettid); }
uint32_t gc_process_id(void) { return (uint32_t)getpid(); }
void gc_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int gc_futex_wait(
    const void *word, uint32_t expected, const struct timespec *deadline, bool realtime) {
  int operation = FUTEX_WAIT_BITSET_PRIVATE | (realtime ? FUTEX_CLOCK_REALTIME : 0);
  long result = syscall(
      SYS_futex, word, operation, expected, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

void gc_futex_wake(const void *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

int gc_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int gc_affinity_count(uint32_t thread) {
  // The kernel refuses a mask smaller than its own with EINVAL, so grow until it fits.
  for (size_t bytes = 128; bytes <= 65536; bytes *= 2) {
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
