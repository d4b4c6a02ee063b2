// Sources for descriptors and signals.
#include "../Check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

typedef struct watch {
  dispatch_source_t source;
  int file;
  latch *happened, *cancelled, *registered;
  _Atomic unsigned long data;
  _Atomic int events;
  _Atomic long bytes;
} watch;

static void on_cancel(void *context) {
  watch *one = context;
  if (one->file >= 0) close(one->file);
  latch_down(one->cancelled);
}
static void on_registration(void *context) { latch_down(((watch *)context)->registered); }
static void read_all(void *context) {
  watch *one = context;
  one->data = dispatch_source_get_data(one->source);
  atomic_fetch_add(&one->events, 1);
  char buffer[4096];
  ssize_t got = read(one->file, buffer, sizeof buffer);
  if (got > 0) atomic_fetch_add(&one->bytes, got);
  if (got == 0) dispatch_source_cancel(one->source);
  if (got >= 0 && one->happened) latch_down(one->happened);
}
static void note_event(void *context) {
  watch *one = context;
  one->data = dispatch_source_get_data(one->source);
  // One event is enough: a source that stays ready would deliver it repeatedly.
  if (atomic_fetch_add(&one->events, 1) == 0) latch_down(one->happened);
  dispatch_source_cancel(one->source);
}
static void count_data(void *context) {
  watch *one = context;
  unsigned long data = dispatch_source_get_data(one->source);
  CHECK(data > 0);
  atomic_fetch_add(&one->data, data);
  atomic_fetch_add(&one->events, 1);
  latch_down(one->happened);
}

static void begin(
  watch *one, dispatch_source_type_t type, int handle, unsigned long mask,
  dispatch_function_t handler) {
  one->source = dispatch_source_create(type, (uintptr_t)handle, mask, NULL);
  CHECK(one->source);
  dispatch_set_context(one->source, one);
  dispatch_source_set_event_handler_f(one->source, handler);
  if (one->cancelled) dispatch_source_set_cancel_handler_f(one->source, on_cancel);
  if (one->registered) dispatch_source_set_registration_handler_f(one->source, on_registration);
  dispatch_activate(one->source);
  // A signal that arrived before the registration would reach no source.
  if (one->registered) latch_wait(one->registered);
}

CASE(read_source_tells_how_much_there_is) {
  static watch one;
  static latch happened = LATCH(1);
  pipe_ends ends = make_pipe();
  one.happened = &happened, one.file = ends.reader;
  CHECK_EQUAL(write(ends.writer, "hello", 5), 5);
  begin(&one, DISPATCH_SOURCE_TYPE_READ, ends.reader, 0, read_all);
  latch_wait(&happened);
  CHECK_EQUAL(one.data, 5);
  CHECK_EQUAL(one.bytes, 5);
}

CASE(read_source_tells_the_end_of_the_file) {
  static watch one;
  static latch happened = LATCH(1), cancelled = LATCH(1);
  pipe_ends ends = make_pipe();
  one.happened = &happened, one.cancelled = &cancelled, one.file = ends.reader;
  begin(&one, DISPATCH_SOURCE_TYPE_READ, ends.reader, 0, read_all);
  close(ends.writer);
  latch_wait(&happened);
  latch_wait(&cancelled);
  CHECK_EQUAL(one.bytes, 0);
}

CASE(read_source_tells_every_time) {
  static watch one;
  pipe_ends ends = make_pipe();
  CHECK(fcntl(ends.reader, F_SETFL, O_NONBLOCK) == 0);
  one.file = ends.reader;
  for (int n = 0; n < 50; n++) {
    static latch happened;
    happened = (latch)LATCH(1);
    one.happened = &happened;
    CHECK_EQUAL(write(ends.writer, "x", 1), 1);
    if (n == 0) begin(&one, DISPATCH_SOURCE_TYPE_READ, ends.reader, 0, read_all);
    latch_wait(&happened);
    CHECK_EQUAL(one.bytes, n + 1);
  }
}

CASE(write_source_tells_that_there_is_room) {
  static watch one;
  static latch happened = LATCH(1), cancelled = LATCH(1);
  pipe_ends ends = make_pipe();
  one.happened = &happened, one.cancelled = &cancelled, one.file = ends.writer;
  begin(&one, DISPATCH_SOURCE_TYPE_WRITE, ends.writer, 0, note_event);
  latch_wait(&happened);
  CHECK(one.data > 0);
  latch_wait(&cancelled);
}

CASE(regular_file_is_always_ready) {
  static watch one;
  static latch happened = LATCH(1), cancelled = LATCH(1);
  int file = make_file("0123456789", 10);
  one.happened = &happened, one.cancelled = &cancelled, one.file = file;
  begin(&one, DISPATCH_SOURCE_TYPE_READ, file, 0, note_event);
  latch_wait(&happened);
  CHECK(one.data > 0);
  latch_wait(&cancelled);
}

BEYOND(several_sources_on_one_descriptor, "the peer tells the reader of nothing") {
  static watch reader, writer;
  static latch could_read = LATCH(1), could_write = LATCH(1), over = LATCH(2);
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  reader.happened = &could_read, reader.cancelled = &over, reader.file = -1;
  writer.happened = &could_write, writer.cancelled = &over, writer.file = -1;
  begin(&writer, DISPATCH_SOURCE_TYPE_WRITE, ends[0], 0, note_event);
  begin(&reader, DISPATCH_SOURCE_TYPE_READ, ends[0], 0, note_event);
  latch_wait(&could_write);
  CHECK_EQUAL(write(ends[1], "now", 3), 3);
  latch_wait(&could_read);
  CHECK_EQUAL(reader.data, 3);
  latch_wait(&over);
}

CASE(cancelled_source_leaves_the_descriptor_alone) {
  static watch one;
  static latch cancelled = LATCH(1);
  pipe_ends ends = make_pipe();
  one.cancelled = &cancelled, one.file = -1;
  begin(&one, DISPATCH_SOURCE_TYPE_READ, ends.reader, 0, note_event);
  dispatch_source_cancel(one.source);
  latch_wait(&cancelled);
  dispatch_release(one.source);
  CHECK_EQUAL(write(ends.writer, "x", 1), 1);
  char byte;
  CHECK_EQUAL(read(ends.reader, &byte, 1), 1);
  CHECK_EQUAL(one.events, 0);
}

CASE(signal_source_counts_deliveries) {
  static watch one;
  static latch happened = LATCH(1), registered = LATCH(1);
  one.happened = &happened, one.registered = &registered;
  signal(SIGUSR1, SIG_IGN);
  begin(&one, DISPATCH_SOURCE_TYPE_SIGNAL, SIGUSR1, 0, count_data);
  CHECK(kill(getpid(), SIGUSR1) == 0);
  latch_wait(&happened);
  CHECK_EQUAL(one.data, 1);
}

CASE(signal_source_counts_one_thread_s_signal) {
  static watch one;
  static latch happened = LATCH(1), registered = LATCH(1);
  one.happened = &happened, one.registered = &registered;
  signal(SIGUSR2, SIG_IGN);
  begin(&one, DISPATCH_SOURCE_TYPE_SIGNAL, SIGUSR2, 0, count_data);
  pthread_kill(pthread_self(), SIGUSR2);
  latch_wait(&happened);
  CHECK(one.data >= 1);
}

CASE(source_of_a_bad_signal_is_null) {
  CHECK(!dispatch_source_create(DISPATCH_SOURCE_TYPE_SIGNAL, 1000, 0, NULL));
}

// Writes to `text` the report on a descriptor that is closed before its source is cancelled.
static void close_early(char *text, size_t room) {
  static watch one;
  static latch registered = LATCH(1), cancelled = LATCH(1);
  int file = make_file("", 0), errors = dup(STDERR_FILENO);
  pipe_ends ends = make_pipe();
  one.registered = &registered, one.cancelled = &cancelled, one.file = -1;
  begin(&one, DISPATCH_SOURCE_TYPE_READ, ends.reader, 0, note_event);
  CHECK(dup2(file, STDERR_FILENO) == STDERR_FILENO);
  close(ends.reader);
  dispatch_source_cancel(one.source);
  latch_wait(&cancelled);
  CHECK(dup2(errors, STDERR_FILENO) == STDERR_FILENO);
  ssize_t size = pread(file, text, room - 1, 0);
  CHECK(size >= 0);
  text[size] = 0;
}

CASE(descriptor_closed_early_is_not_reported_unasked) {
  char text[1024];
  CHECK(unsetenv("GRANDCENTRAL_REPORTS") == 0);
  close_early(text, sizeof text);
  CHECK_TEXT(text, "");
}

BEYOND(descriptor_closed_early_is_reported_on_request, "the peer has no such reports") {
  char text[1024];
  CHECK(setenv("GRANDCENTRAL_REPORTS", "all", 1) == 0);
  close_early(text, sizeof text);
  CHECK(strstr(text, "BUG IN CLIENT OF GRAND CENTRAL: The descriptor of a read source"));
  CHECK(strstr(text, "closed before the source was cancelled"));
}

// MARK: The library's own descriptors

static bool is_anonymous(int descriptor) {
  char path[32], target[64] = "";
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return readlink(path, target, sizeof target - 1) > 0 && !strncmp(target, "anon_inode:", 11);
}

static latch fired = LATCH(3), fired_again = LATCH(20);

static void note_fired(void *context) {
  (void)context;
  latch_down(latch_is_open(&fired) ? &fired_again : &fired);
}

BEYOND(low_descriptors_stay_free_for_the_program, "the peer's own come to be among them") {
  int saved[3];
  for (int number = 0; number < 3; number++) {
    saved[number] = fcntl(number, F_DUPFD_CLOEXEC, 10);
    CHECK(saved[number] >= 10);
  }
  for (int number = 0; number < 3; number++) close(number);
  dispatch_source_t timer =
    dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, serial_queue());
  dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, NSEC_PER_MSEC, 0);
  dispatch_source_set_event_handler_f(timer, note_fired);
  dispatch_activate(timer);
  latch_wait(&fired);
  bool is_taken = false;
  for (int number = 0; number < 3; number++) is_taken = is_taken || is_anonymous(number);
  for (int number = 0; number < 3; number++) CHECK_EQUAL(dup2(saved[number], number), number);
  CHECK(!is_taken);
  latch_wait(&fired_again);
}
