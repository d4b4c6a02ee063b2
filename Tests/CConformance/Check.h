// The conformance suite: C programs that use only the C API and run against any libdispatch.so.
//
// A case is a function that registers itself. The driver (scripts/dev conformance) runs each case
// in its own process, under a time limit. A case passes by returning. The kinds of cases:
//   CASE          behaviour of every implementation
//   BEYOND        required by the contract, but the toolchain's library lacks it; the text is why
//   STOPS         a client's mistake that must end the process; the text holds words that the
//                 message must contain if the library is ours
//   STOPS_BEYOND  a mistake that the toolchain's library does not notice
//
// The suite's tools do not use the library under test: cases wait with pthreads.
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <dispatch/dispatch.h>

#include <errno.h>
#include <signal.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: Cases

typedef enum case_kind { KIND_CASE, KIND_BEYOND, KIND_STOPS, KIND_STOPS_BEYOND } case_kind;
typedef struct conformance_case {
  const char *name;
  case_kind kind;
  const char *text;  // BEYOND: why; STOPS…: words of the message, separated by '|'
  void (*run)(void);
  struct conformance_case *next;
} conformance_case;
void register_case(conformance_case *one);

#define DEFINE_CASE(name_, kind_, text_) \
  static void case_##name_(void); \
  __attribute__((constructor)) static void register_##name_(void) { \
    static conformance_case one = {#name_, kind_, text_, case_##name_, NULL}; \
    register_case(&one); \
  } \
  static void case_##name_(void)
#define CASE(name) DEFINE_CASE(name, KIND_CASE, "")
#define BEYOND(name, why) DEFINE_CASE(name, KIND_BEYOND, why)
#define STOPS(name, words) DEFINE_CASE(name, KIND_STOPS, words)
#define STOPS_BEYOND(name, words) DEFINE_CASE(name, KIND_STOPS_BEYOND, words)

// MARK: Checks: any thread may fail; the first failure ends the process

_Noreturn void fail(const char *file, int line, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

#define CHECK(condition) \
  do { \
    if (!(condition)) fail(__FILE__, __LINE__, "%s", #condition); \
  } while (0)
#define CHECK_EQUAL(left, right) \
  do { \
    long long left_ = (long long)(left), right_ = (long long)(right); \
    if (left_ != right_) \
      fail(__FILE__, __LINE__, "%s is %lld (%#llx), not %s, %lld (%#llx)", #left, left_, \
        (unsigned long long)left_, #right, right_, (unsigned long long)right_); \
  } while (0)
#define CHECK_TEXT(left, right) \
  do { \
    const char *left_ = (left), *right_ = (right); \
    if (strcmp(left_, right_)) \
      fail(__FILE__, __LINE__, "%s is '%s', not '%s'", #left, left_, right_); \
  } while (0)

// MARK: Waiting

// A countdown. Waiting threads continue when it reaches 0. It keeps its state: a thread that waits
// after the last count returns at once.
typedef struct latch {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  long left;
} latch;
#define LATCH(count) {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, (count)}
void latch_down(latch *one);
void latch_wait_at(latch *one, const char *file, int line);
#define latch_wait(one) latch_wait_at((one), __FILE__, __LINE__)
// Returns whether the count is 0.
bool latch_is_open(latch *one);
// Counts the latch `one` down; a work function for items that need no other context.
void open_latch(void *one);

// Counts items that continue without end. One thread may wait for the next `more` of them.
typedef struct progress {
  atomic_long count, awaited;
  _Atomic(latch *) passed;
} progress;
void progress_add(progress *one);
void progress_await(progress *one, long more);

// A list of events, in the order in which they happened.
typedef struct journal {
  pthread_mutex_t mutex;
  int count;
  int entries[4096];
} journal;
#define JOURNAL {PTHREAD_MUTEX_INITIALIZER, 0, {0}}
void journal_add(journal *one, int entry);
int journal_count(journal *one);
void journal_expect_at(
  journal *one, const int *expected, int count, const char *file, int line);
#define journal_expect(one, ...) \
  do { \
    const int expected_[] = {__VA_ARGS__}; \
    journal_expect_at( \
      (one), expected_, (int)(sizeof expected_ / sizeof *expected_), __FILE__, __LINE__); \
  } while (0)

// The context of a work function that appends `entry` to a journal and counts a latch down.
typedef struct step {
  journal *to;
  int entry;
  latch *then;
} step;
void take_step(void *one);

// MARK: Counters for contexts

typedef struct counter {
  _Atomic long value;
} counter;
void count_up(void *one);

static inline dispatch_queue_t serial_queue(void) {
  return dispatch_queue_create("conformance.serial", DISPATCH_QUEUE_SERIAL);
}
static inline dispatch_queue_t concurrent_queue(void) {
  return dispatch_queue_create("conformance.concurrent", DISPATCH_QUEUE_CONCURRENT);
}
static inline dispatch_queue_t global_queue(void) {
  return dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0);
}
// Returns when every item submitted earlier to the serial queue has run.
void drain(dispatch_queue_t queue);

// Returns a deadline that a wait reaches only if the library hangs.
dispatch_time_t deadline(void);
// Returns a deadline 20 ms away, for waits that must time out.
static inline dispatch_time_t soon(void) {
  return dispatch_time(DISPATCH_TIME_NOW, 20 * (int64_t)NSEC_PER_MSEC);
}

// The clocks CLOCK_MONOTONIC and CLOCK_REALTIME, in nanoseconds.
int64_t monotonic_now(void);
int64_t realtime_now(void);

// MARK: Files

typedef struct pipe_ends {
  int reader, writer;
} pipe_ends;
pipe_ends make_pipe(void);
// Creates a file without a name that holds the `size` bytes at `bytes`. Returns its descriptor.
int make_file(const void *bytes, size_t size);
// Creates a file and writes its path to `path`; the caller unlinks it.
int make_named_file(char path[64]);

#endif
