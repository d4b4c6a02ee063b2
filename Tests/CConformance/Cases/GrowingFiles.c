// Read sources of regular files that change after their end was reached.
#include "../Check.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SPINS "the peer reports the end of a file again and again"
enum { MOST = 1000 };

typedef struct reader {
  dispatch_source_t source;
  int file;
  // Used by the handler: events so far that reported bytes, and that reported an end.
  int arrivals, ends;
  // Opened by the events of that number.
  latch arrived[MOST], ended[MOST];
  // What the last event of each kind reported.
  _Atomic unsigned long data, data_at_end;
  latch cancelled;
} reader;

static void read_all(void *context) {
  reader *one = context;
  char buffer[4096];
  unsigned long data = dispatch_source_get_data(one->source);
  ssize_t got = read(one->file, buffer, sizeof buffer);
  CHECK(got >= 0);
  if (got > 0) {
    one->data = data;
    if (one->arrivals < MOST) latch_down(&one->arrived[one->arrivals++]);
  } else {
    one->data_at_end = data;
    if (one->ends < MOST) latch_down(&one->ended[one->ends++]);
  }
}

static void over(void *context) {
  reader *one = context;
  close(one->file);
  latch_down(&one->cancelled);
}

static void begin(reader *one, int file) {
  one->file = file;
  one->arrivals = one->ends = 0;
  one->cancelled = (latch)LATCH(1);
  for (int n = 0; n < MOST; n++) one->arrived[n] = one->ended[n] = (latch)LATCH(1);
  one->source =
    dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)file, 0, serial_queue());
  CHECK(one->source);
  dispatch_set_context(one->source, one);
  dispatch_source_set_event_handler_f(one->source, read_all);
  dispatch_source_set_cancel_handler_f(one->source, over);
  dispatch_activate(one->source);
}

static void end(reader *one) {
  dispatch_source_cancel(one->source);
  latch_wait(&one->cancelled);
  dispatch_release(one->source);
}

// Each read moves the file's position; a write at an offset does not.
static void grow(int file, const char *text, off_t at) {
  CHECK_EQUAL(pwrite(file, text, strlen(text), at), strlen(text));
}

CASE(read_source_hears_that_a_file_grows) {
  static reader one;
  int file = make_file("", 0);
  begin(&one, file);
  for (int n = 0; n < MOST; n++) {
    grow(file, "x", n);
    latch_wait(&one.arrived[n]);
  }
  end(&one);
}

BEYOND(read_source_reports_each_end_of_a_growing_file_once, SPINS) {
  static reader one;
  int file = make_file("first", 5);
  begin(&one, file);
  latch_wait(&one.ended[0]);
  CHECK_EQUAL(one.data, 5);
  for (int n = 1; n < MOST - 1; n++) {
    grow(file, "two", 2 + 3 * n);
    latch_wait(&one.ended[n]);
    CHECK_EQUAL(one.data, 3);
  }
  end(&one);
  CHECK_EQUAL(one.arrivals, MOST - 1);
  CHECK_EQUAL(one.ends, MOST - 1);
}

CASE(suspended_read_source_hears_after_its_resume_that_a_file_grew) {
  static reader one;
  int file = make_file("", 0);
  begin(&one, file);
  latch_wait(&one.ended[0]);
  for (int n = 0; n < 100; n++) {
    dispatch_suspend(one.source);
    grow(file, "x", n);
    dispatch_resume(one.source);
    latch_wait(&one.arrived[n]);
  }
  end(&one);
}

CASE(all_readers_of_a_file_hear_that_it_grows) {
  enum { READERS = 4 };
  static reader all[READERS];
  char path[64];
  int file = make_named_file(path);
  for (int n = 0; n < READERS; n++) begin(&all[n], open(path, O_RDONLY));
  // Each reads through a descriptor of its own, so the file also grows without a name.
  CHECK(unlink(path) == 0);
  for (int round = 0; round < 200; round++) {
    grow(file, "x", round);
    for (int n = 0; n < READERS; n++) latch_wait(&all[n].arrived[round]);
  }
  // The others still hear of it when one has left.
  end(&all[0]);
  grow(file, "x", 200);
  for (int n = 1; n < READERS; n++) latch_wait(&all[n].arrived[200]);
  for (int n = 1; n < READERS; n++) end(&all[n]);
}

BEYOND(read_source_is_silent_until_a_truncated_file_has_grown_past_its_position, SPINS) {
  static reader one;
  int file = make_file("0123456789", 10);
  begin(&one, file);
  latch_wait(&one.ended[0]);
  CHECK(ftruncate(file, 3) == 0);
  grow(file, "345", 3);
  grow(file, "6789ab", 6);
  latch_wait(&one.ended[1]);
  CHECK_EQUAL(one.data, 2);
  end(&one);
  CHECK_EQUAL(one.arrivals, 2);
  CHECK_EQUAL(one.ends, 2);
}

BEYOND(read_source_behind_the_end_of_a_truncated_file_reports_an_end, SPINS) {
  static reader one;
  int file = make_file("0123456789", 10);
  CHECK_EQUAL(lseek(file, 8, SEEK_SET), 8);
  CHECK(ftruncate(file, 3) == 0);
  begin(&one, file);
  latch_wait(&one.ended[0]);
  CHECK_EQUAL(one.data_at_end, 0);
  grow(file, "89", 8);
  latch_wait(&one.ended[1]);
  end(&one);
  CHECK_EQUAL(one.arrivals, 1);
  CHECK_EQUAL(one.ends, 2);
}

// MARK: Beside a writer

typedef struct writer {
  int file;
  _Atomic bool stops;
} writer;

static void *append(void *context) {
  writer *one = context;
  while (!one->stops) CHECK_EQUAL(write(one->file, "x", 1), 1);
  return NULL;
}

CASE(read_source_of_a_growing_file_is_cancelled_at_any_time) {
  static reader one;
  static writer other;
  char path[64];
  pthread_t thread;
  other.file = make_named_file(path);
  CHECK(pthread_create(&thread, NULL, append, &other) == 0);
  for (int round = 0; round < 200; round++) {
    int file = open(path, O_RDONLY);
    CHECK(file >= 0 && lseek(file, 0, SEEK_END) >= 0);
    begin(&one, file);
    latch_wait(&one.arrived[round % 20]);
    end(&one);
  }
  other.stops = true;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(unlink(path) == 0);
}

// MARK: Large files

static latch counted = LATCH(1);
static _Atomic unsigned long count;

static void note_count(void *context) {
  count = dispatch_source_get_data(context);
  dispatch_source_cancel(context);
  latch_down(&counted);
}

BEYOND(read_source_knows_4_gib_from_an_end, "the peer counts in 32 bits") {
  int file = make_file("", 0);
  CHECK(ftruncate(file, 4LL << 30) == 0);
  dispatch_source_t source =
    dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)file, 0, serial_queue());
  dispatch_set_context(source, source);
  dispatch_source_set_event_handler_f(source, note_count);
  dispatch_activate(source);
  latch_wait(&counted);
  CHECK_EQUAL(count, 4LL << 30);
}
