// The suite's tools and its main program:
//   suite --list        prints one line for each case: kind, name, text
//   suite NAME          runs one case in this process; exits with 0 if it passes
#define _GNU_SOURCE  // pipe2()
#include "Check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <time.h>

static conformance_case *cases;

void register_case(conformance_case *one) {
  one->next = cases;
  cases = one;
}

void fail(const char *file, int line, const char *format, ...) {
  // The first failing thread reports and exits; other failing threads block here.
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);
  const char *slash = strrchr(file, '/');
  fprintf(stderr, "%s:%d: ", slash ? slash + 1 : file, line);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  fflush(stderr);
  _exit(1);
}

// MARK: Waiting

static int deadline_seconds(void) {
  const char *text = getenv("GRANDCENTRAL_DEADLINE");
  int seconds = text ? atoi(text) : 0;
  return seconds > 0 ? seconds : 30;
}

dispatch_time_t deadline(void) {
  return dispatch_time(DISPATCH_TIME_NOW, deadline_seconds() * (int64_t)NSEC_PER_SEC);
}

void latch_down(latch *one) {
  pthread_mutex_lock(&one->mutex);
  if (--one->left == 0) pthread_cond_broadcast(&one->changed);
  pthread_mutex_unlock(&one->mutex);
}

void latch_wait_at(latch *one, const char *file, int line) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += deadline_seconds();
  pthread_mutex_lock(&one->mutex);
  while (one->left > 0) {
    if (pthread_cond_timedwait(&one->changed, &one->mutex, &until) == ETIMEDOUT && one->left > 0)
      fail(file, line, "timed out: %ld to go", one->left);
  }
  pthread_mutex_unlock(&one->mutex);
}

bool latch_is_open(latch *one) {
  pthread_mutex_lock(&one->mutex);
  bool is_open = one->left <= 0;
  pthread_mutex_unlock(&one->mutex);
  return is_open;
}

void open_latch(void *one) { latch_down(one); }

void progress_add(progress *one) {
  if (atomic_fetch_add(&one->count, 1) >= atomic_load(&one->awaited)) {
    latch *now = atomic_exchange(&one->passed, NULL);
    if (now) latch_down(now);
  }
}

void progress_await(progress *one, long more) {
  latch passed = LATCH(1);
  atomic_store(&one->awaited, atomic_load(&one->count) + more);
  atomic_store(&one->passed, &passed);
  latch_wait(&passed);
}

void journal_add(journal *one, int entry) {
  pthread_mutex_lock(&one->mutex);
  if (one->count >= (int)(sizeof one->entries / sizeof *one->entries))
    fail(__FILE__, __LINE__, "more entries than the journal holds");
  one->entries[one->count++] = entry;
  pthread_mutex_unlock(&one->mutex);
}

int journal_count(journal *one) {
  pthread_mutex_lock(&one->mutex);
  int count = one->count;
  pthread_mutex_unlock(&one->mutex);
  return count;
}

void journal_expect_at(
  journal *one, const int *expected, int count, const char *file, int line) {
  pthread_mutex_lock(&one->mutex);
  bool same = one->count == count && !memcmp(one->entries, expected, sizeof(int) * (size_t)count);
  if (!same) {
    char text[512] = "";
    for (int n = 0; n < one->count && strlen(text) < 480; n++)
      snprintf(text + strlen(text), sizeof text - strlen(text), " %d", one->entries[n]);
    fail(file, line, "this happened:%s", text);
  }
  pthread_mutex_unlock(&one->mutex);
}

void take_step(void *context) {
  step *one = context;
  if (one->to) journal_add(one->to, one->entry);
  if (one->then) latch_down(one->then);
}

void count_up(void *one) { atomic_fetch_add(&((counter *)one)->value, 1); }

static void nothing(void *context) { (void)context; }
void drain(dispatch_queue_t queue) { dispatch_sync_f(queue, NULL, nothing); }

static int64_t clock_now(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
int64_t monotonic_now(void) { return clock_now(CLOCK_MONOTONIC); }
int64_t realtime_now(void) { return clock_now(CLOCK_REALTIME); }

// MARK: Files

pipe_ends make_pipe(void) {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  return (pipe_ends){ends[0], ends[1]};
}

int make_named_file(char path[64]) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, 64, "%s/conformance-XXXXXX", folder && strlen(folder) < 40 ? folder : "/tmp");
  int file = mkstemp(path);
  CHECK(file >= 0);
  return file;
}

int make_file(const void *bytes, size_t size) {
  char path[64];
  int file = make_named_file(path);
  CHECK(unlink(path) == 0);
  CHECK(write(file, bytes, size) == (ssize_t)size);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  return file;
}

// MARK: Main

static void run_to_the_end(conformance_case *one) {
  // A case that ends in a trap must not leave a core file.
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  one->run();
  fflush(NULL);
  // Not exit(): threads of the library may still run, and its handlers would race with them.
  _exit(0);
}

int main(int count, char **arguments) {
  static const char *const kinds[] = {"case", "beyond", "stops", "stops-beyond"};
  if (count == 2 && !strcmp(arguments[1], "--list")) {
    for (conformance_case *one = cases; one; one = one->next)
      printf("%s\t%s\t%s\n", kinds[one->kind], one->name, one->text);
    return 0;
  }
  for (conformance_case *one = cases; count == 2 && one; one = one->next)
    if (!strcmp(one->name, arguments[1])) run_to_the_end(one);
  fprintf(stderr, "usage: suite --list | NAME\n");
  return 2;
}
