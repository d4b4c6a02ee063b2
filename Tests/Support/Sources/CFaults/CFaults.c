#define _GNU_SOURCE
#include "CFaults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int result(long returned) { return returned == -1 ? errno : 0; }

int faults_drop_privileges(void) {
  if (geteuid() != 0) return 0;
  const id_t other = 65534;
  if (setgroups(0, NULL) || setresgid(other, other, other) || setresuid(other, other, other))
    return errno;
  // Without this, root owns /proc/self after the change of user.
  return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

int faults_limit(faults_resource resource, int64_t limit) {
  const __rlimit_resource_t kinds[] = {RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_AS};
  struct rlimit now;
  if (getrlimit(kinds[resource], &now)) return errno;
  now.rlim_cur = limit < 0 || (rlim_t)limit > now.rlim_max ? now.rlim_max : (rlim_t)limit;
  return result(setrlimit(kinds[resource], &now));
}

int64_t faults_address_space(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return -1;
  long long pages = -1;
  if (fscanf(file, "%lld", &pages) != 1) pages = -1;
  fclose(file);
  return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

int64_t faults_stack_bytes(void) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_attr_init(&attributes)) return -1;
  int error = pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return error ? -1 : (int64_t)bytes;
}

static const uint32_t call_numbers[] = {
    [FAULTS_CLONE] = SYS_clone,
    [FAULTS_CLONE3] = SYS_clone3,
    [FAULTS_OPENAT] = SYS_openat,
    [FAULTS_PRCTL] = SYS_prctl,
    [FAULTS_EVENTFD2] = SYS_eventfd2,
    [FAULTS_EPOLL_CREATE1] = SYS_epoll_create1,
    [FAULTS_EPOLL_CTL] = SYS_epoll_ctl,
    [FAULTS_TIMERFD_CREATE] = SYS_timerfd_create,
    [FAULTS_SCHED_GETAFFINITY] = SYS_sched_getaffinity,
    [FAULTS_PIDFD_OPEN] = SYS_pidfd_open,
    [FAULTS_IO_URING_SETUP] = SYS_io_uring_setup,
    [FAULTS_IO_URING_ENTER] = SYS_io_uring_enter,
    [FAULTS_IO_URING_REGISTER] = SYS_io_uring_register,
    [FAULTS_READ] = SYS_read,
    [FAULTS_PREAD] = SYS_pread64,
    [FAULTS_PREADV2] = SYS_preadv2,
    [FAULTS_WRITEV] = SYS_writev,
    [FAULTS_PWRITEV] = SYS_pwritev,
    [FAULTS_SENDMSG] = SYS_sendmsg,
    [FAULTS_SCHED_SETATTR] = SYS_sched_setattr,
    [FAULTS_SCHED_GETATTR] = SYS_sched_getattr,
    [FAULTS_IOPRIO_SET] = SYS_ioprio_set,
};

static int install(struct sock_filter *filter, size_t length) {
  struct sock_fprog program = {.len = (unsigned short)length, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
  // TSYNC applies the filter to existing threads too.
  return result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program));
}

static struct sock_filter load(size_t offset) {
  return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter skip_unless(uint32_t value, uint8_t instructions) {
  return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, instructions);
}

static struct sock_filter refuse(int error) {
  return (struct sock_filter)BPF_STMT(
      BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA));
}

static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

int faults_refuse(const faults_call *calls, size_t count, int error) {
  // Load the number, compare it with each refused one, refuse or allow.
  struct sock_filter filter[32];
  size_t length = 0;
  filter[length++] = load(offsetof(struct seccomp_data, nr));
  for (size_t index = 0; index < count && length + 3 < 32; index++) {
    filter[length++] = skip_unless(call_numbers[calls[index]], 1);
    filter[length++] = refuse(error);
  }
  filter[length++] = allow;
  return install(filter, length);
}

int faults_refuse_descriptor(int descriptor, faults_call call, int error) {
  // Compare the lower half of the argument, which is first on little-endian machines.
  struct sock_filter filter[] = {
      load(offsetof(struct seccomp_data, nr)),
      skip_unless(call_numbers[call], 3),
      load(offsetof(struct seccomp_data, args[0])),
      skip_unless((uint32_t)descriptor, 1),
      refuse(error),
      allow,
  };
  return install(filter, sizeof filter / sizeof filter[0]);
}

// A child must not stay a zombie, whatever signals come: the test runner's thread that waits for
// any child would find it again and again, and never the end of another one.
static int wait_for(pid_t child) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child ? status : -1;
}

int faults_in_child(bool (*body)(void)) {
  pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return child < 0 ? -1 : wait_for(child);
}

int faults_fork(void) { return fork(); }

int faults_status_of(int child, int seconds) {
  struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0u), .events = POLLIN};
  if (end.fd >= 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t last = now.tv_sec + seconds;
    int found;
    // After a signal for what is left, in whole seconds.
    do {
      clock_gettime(CLOCK_MONOTONIC, &now);
      found = poll(&end, 1, now.tv_sec < last ? 1000 * (int)(last - now.tv_sec) : 0);
    } while (found < 0 && errno == EINTR);
    if (found == 0) kill(child, SIGKILL);
    close(end.fd);
  }
  return wait_for(child);
}

int faults_end_of(int child, int seconds) {
  int status = faults_status_of(child, seconds);
  if (status < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void *nothing(void *argument) { return argument; }

int faults_make_pipe(int ends[2], bool blocks) {
  return pipe2(ends, O_CLOEXEC | (blocks ? 0 : O_NONBLOCK)) ? errno : 0;
}

int faults_try_thread(void) {
  pthread_t thread;
  int error = pthread_create(&thread, NULL, nothing, NULL);
  if (!error) pthread_join(thread, NULL);
  return error;
}

static _Atomic uint64_t signals;
static void count_signal(int number) {
  (void)number;
  atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed);
}

int faults_count_signal(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = count_signal;
  sigemptyset(&action.sa_mask);
  return result(sigaction(number, &action, NULL));
}

uint64_t faults_signals(void) { return atomic_load_explicit(&signals, memory_order_relaxed); }

// Calls `visit` for each thread of the process. Returns how many calls returned 0, or -1.
static int each_thread(int (*visit)(pid_t thread, const void *argument), const void *argument) {
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return -1;
  int count = 0;
  struct dirent *entry;
  while ((entry = readdir(folder)))
    if (entry->d_name[0] != '.' && visit((pid_t)atoi(entry->d_name), argument) == 0) count++;
  closedir(folder);
  return count;
}

static int signal_other(pid_t thread, const void *number) {
  if (thread == (pid_t)syscall(SYS_gettid)) return -1;
  return (int)syscall(SYS_tgkill, getpid(), thread, *(const int *)number);
}

int faults_signal_others(int number) { return each_thread(signal_other, &number); }

int faults_set_alarm(int microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  return result(setitimer(ITIMER_REAL, &timer, NULL));
}

uint64_t faults_cpus(void) {
  cpu_set_t set;
  uint64_t cpus = 0;
  if (sched_getaffinity(0, sizeof set, &set)) return 0;
  for (int cpu = 0; cpu < 64; cpu++)
    if (CPU_ISSET(cpu, &set)) cpus |= (uint64_t)1 << cpu;
  return cpus;
}

static int bind_one(pid_t thread, const void *set) {
  return sched_setaffinity(thread, sizeof(cpu_set_t), set);
}

int faults_bind(int thread, uint64_t cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = 0; cpu < 64; cpu++)
    if (cpus >> cpu & 1) CPU_SET(cpu, &set);
  if (thread != 0) return result(bind_one(thread, &set));
  return each_thread(bind_one, &set) > 0 ? 0 : EAGAIN;
}

int faults_schedule(int thread, faults_policy policy) {
  const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE};
  struct sched_param parameters = {.sched_priority = 0};
  return result(sched_setscheduler(thread, policies[policy], &parameters));
}

bool faults_is_sanitized(void) {
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  return true;
#else
  return false;
#endif
}

int faults_open_terminal(int *main_end, int *terminal) {
  int made = posix_openpt(O_RDWR | O_NOCTTY);
  if (made < 0) return errno;
  char name[64];
  int error = grantpt(made) || unlockpt(made) ? errno : ptsname_r(made, name, sizeof name);
  int other = error ? -1 : open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (other < 0) {
    if (!error) error = errno;
    close(made);
    return error;
  }
  *main_end = made;
  *terminal = other;
  return 0;
}

bool faults_is_thread_sanitized(void) {
#if __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
}
