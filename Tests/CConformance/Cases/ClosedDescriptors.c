// A program closes every descriptor that it does not know, those of the library among them.
#define _GNU_SOURCE
#include "../Check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

// As a daemon does that starts with no descriptors but the standard ones, after it has used a
// queue.
CASE(queues_work_after_the_program_has_closed_all_descriptors) {
  latch begun = LATCH(1);
  dispatch_queue_t queue = serial_queue();
  dispatch_after_f(
    dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC), queue, &begun, open_latch);
  latch_wait(&begun);
  for (int number = 3; number < 256; number++) close(number);
  // The numbers come to be those of other files.
  for (int n = 0; n < 16; n++) CHECK(open("/dev/null", O_RDONLY) >= 0);
  for (int round = 0; round < 1000; round++) {
    latch ended = LATCH(100);
    for (int n = 0; n < 50; n++) {
      dispatch_async_f(queue, &ended, open_latch);
      dispatch_async_f(global_queue(), &ended, open_latch);
    }
    latch_wait(&ended);
  }
}

enum { FIRST = 3, END = 200, SAFE = 300, BYTES = 6 };

static pipe_ends wake, program;
static int waiting_child;
static latch replaced = LATCH(1);
static _Atomic bool is_replaced;

static int above(int descriptor) {
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, SAFE);
  CHECK(copy >= SAFE);
  close(descriptor);
  return copy;
}

static pipe_ends pipe_above(void) {
  pipe_ends ends = make_pipe();
  return (pipe_ends){.reader = above(ends.reader), .writer = above(ends.writer)};
}

// Runs at each byte, until the thread is one that waits for events: it comes to wait again.
static void replace_all(void *context) {
  (void)context;
  char byte, name[16] = "";
  CHECK_EQUAL(read(wake.reader, &byte, 1), 1);
  if (atomic_load(&is_replaced)) return;
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (!strncmp(name, "gc-events", 9)) {
    // Each number is the program's now. What reads or closes one shows.
    for (int number = FIRST; number < END; number++)
      CHECK_EQUAL(dup2(program.reader, number), number);
    atomic_store(&is_replaced, true);
    latch_down(&replaced);
  } else {
    CHECK_EQUAL(write(wake.writer, "x", 1), 1);
  }
}

static dispatch_source_t watch(
  const char *type, uintptr_t handle, uintptr_t mask, latch *happened) {
  dispatch_source_type_t known = (dispatch_source_type_t)dlsym(RTLD_DEFAULT, type);
  CHECK(known);
  latch registered = LATCH(1);
  dispatch_source_t source = dispatch_source_create(known, handle, mask, serial_queue());
  dispatch_set_context(source, &registered);
  dispatch_source_set_registration_handler_f(source, open_latch);
  dispatch_source_set_event_handler_f(source, open_latch);
  dispatch_activate(source);
  latch_wait(&registered);
  dispatch_set_context(source, happened);
  return source;
}

static bool are_all_the_programs(void) {
  struct stat own, other;
  CHECK(fstat(program.reader, &own) == 0);
  int bytes = 0;
  if (ioctl(program.reader, FIONREAD, &bytes) != 0 || bytes != BYTES) return false;
  for (int number = FIRST; number < END; number++) {
    if (fstat(number, &other) != 0 || other.st_ino != own.st_ino) return false;
  }
  return true;
}

static void replace_all_descriptors(void) {
  // Before the library has threads.
  pipe_ends until = pipe_above();
  waiting_child = fork();
  if (!waiting_child) {
    char byte;
    close(until.writer);
    _exit(read(until.reader, &byte, 1) < 0);
  }
  wake = pipe_above();
  program = pipe_above();
  CHECK_EQUAL(write(program.writer, "abcdef", BYTES), BYTES);
  char path[64];
  int file = above(make_named_file(path));
  static latch ended = LATCH(1), came = LATCH(1), changed = LATCH(1), is_later = LATCH(1);
  static latch changed_again = LATCH(1);
  signal(SIGUSR1, SIG_IGN);
  watch("_dispatch_source_type_vnode", (uintptr_t)file, DISPATCH_VNODE_WRITE, &changed);
  watch("_dispatch_source_type_proc", (uintptr_t)waiting_child, DISPATCH_PROC_EXIT, &ended);
  watch("_dispatch_source_type_signal", SIGUSR1, 0, &came);
  CHECK_EQUAL(write(file, "x", 1), 1);
  latch_wait(&changed);
  dispatch_after_f(
    dispatch_time(DISPATCH_TIME_NOW, 50 * NSEC_PER_MSEC), serial_queue(), &is_later, open_latch);
  dispatch_source_t source = dispatch_source_create(
    DISPATCH_SOURCE_TYPE_READ, (uintptr_t)wake.reader, 0, serial_queue());
  dispatch_source_set_event_handler_f(source, replace_all);
  dispatch_activate(source);
  CHECK_EQUAL(write(wake.writer, "x", 1), 1);
  latch_wait(&replaced);
  // What needs no descriptor of the program continues.
  latch_wait(&is_later);
  CHECK(kill(getpid(), SIGUSR1) == 0);
  latch_wait(&came);
  close(until.writer);
  close(until.reader);
  latch_wait(&ended);
  // New sources get events.
  watch("_dispatch_source_type_vnode", (uintptr_t)file, DISPATCH_VNODE_WRITE, &changed_again);
  CHECK_EQUAL(write(file, "y", 1), 1);
  latch_wait(&changed_again);
  CHECK(are_all_the_programs());
  pid_t child = fork();
  if (!child) _exit(are_all_the_programs() ? 0 : 1);
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK(unlink(path) == 0);
}

// A thread of the library may read a file of /proc at the moment in which the program takes that
// number, and then closes the program's descriptor: dup2(2). That is seldom; what the library keeps
// open fails each time.
BEYOND(
  sources_continue_after_the_program_has_closed_all_descriptors, "the peer has no such types") {
  int status = 0;
  for (int attempt = 0; attempt < 3; attempt++) {
    // Before the library has threads.
    pid_t child = fork();
    if (!child) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      replace_all_descriptors();
      _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (status == 0) return;
  }
  CHECK_EQUAL(status, 0);
}
