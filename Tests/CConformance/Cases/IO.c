// Channels, with functions as handlers; IOBlocks.c has the variants with blocks.
#include "../Check.h"
#include "../Private.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

// What the handler of one operation received.
typedef struct report {
  char bytes[65536];
  size_t size;
  int calls, dones, error;
  latch *done;
} report;

static void append(report *to, dispatch_data_t data) {
  if (!data) return;
  const void *bytes;
  size_t size;
  dispatch_data_t map = dispatch_data_create_map(data, &bytes, &size);
  CHECK(to->size + size <= sizeof to->bytes);
  if (size) memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
  dispatch_release(map);
}
static void on_read(void *context, bool done, dispatch_data_t data, int error) {
  report *to = context;
  append(to, data);
  to->calls++;
  if (!done) return;
  to->error = error;
  to->dones++;
  latch_down(to->done);
}
static void on_write(void *context, bool done, dispatch_data_t data, int error) {
  report *to = context;
  to->calls++;
  if (!done) return;
  to->size = data ? dispatch_data_get_size(data) : 0;
  to->error = error;
  to->dones++;
  latch_down(to->done);
}
typedef struct cleanup {
  latch done;
  int error, file;
} cleanup;
#define CLEANUP(file_) {.done = LATCH(1), .error = -1, .file = (file_)}
static void on_cleanup(void *context, int error) {
  cleanup *to = context;
  to->error = error;
  if (to->file >= 0) close(to->file);
  latch_down(&to->done);
}
static void expect_report(report *one, const char *text) {
  latch_wait(one->done);
  CHECK_EQUAL(one->error, 0);
  CHECK_EQUAL(one->dones, 1);
  CHECK_EQUAL(one->size, strlen(text));
  CHECK(!memcmp(one->bytes, text, one->size));
}

CASE(io_reads_a_pipe_to_its_end) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  seen.done = &done;
  pipe_ends ends = make_pipe();
  end.file = ends.reader;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel =
    dispatch_io_create_f(DISPATCH_IO_STREAM, ends.reader, queue, &end, on_cleanup);
  CHECK(channel);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &seen, on_read);
  CHECK_EQUAL(write(ends.writer, "some ", 5), 5);
  CHECK_EQUAL(write(ends.writer, "bytes", 5), 5);
  close(ends.writer);
  expect_report(&seen, "some bytes");
  dispatch_io_close(channel, 0);
  dispatch_release(channel);
  latch_wait(&end.done);
  CHECK_EQUAL(end.error, 0);
}

CASE(io_reads_as_much_as_asked) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1), done_too = LATCH(1);
  static report first, second;
  first.done = &done, second.done = &done_too;
  int file = make_file("0123456789", 10);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_STREAM, file, queue, &end, on_cleanup);
  dispatch_io_read_f(channel, 0, 4, queue, &first, on_read);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &second, on_read);
  expect_report(&first, "0123");
  expect_report(&second, "456789");
  dispatch_release(channel);
  latch_wait(&end.done);
  CHECK_EQUAL(end.error, 0);
}

CASE(io_random_reads_at_offsets) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1), done_too = LATCH(1);
  static report first, second;
  first.done = &done, second.done = &done_too;
  int file = make_file("0123456789", 10);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_RANDOM, file, queue, &end, on_cleanup);
  dispatch_io_read_f(channel, 6, 3, queue, &first, on_read);
  dispatch_io_read_f(channel, 1, 3, queue, &second, on_read);
  expect_report(&first, "678");
  expect_report(&second, "123");
  dispatch_release(channel);
  latch_wait(&end.done);
}

CASE(io_writes_and_reads_a_file_by_its_path) {
  static cleanup end = CLEANUP(-1), end_too = CLEANUP(-1);
  static latch written = LATCH(1), read_back = LATCH(1);
  static report write_report, read_report;
  write_report.done = &written, read_report.done = &read_back;
  char path[64];
  close(make_named_file(path));
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_with_path_f(
    DISPATCH_IO_STREAM, path, O_WRONLY | O_TRUNC, 0600, queue, &end, on_cleanup);
  CHECK(channel);
  dispatch_data_t data = dispatch_data_create_f("written", 7, NULL, NULL);
  dispatch_io_write_f(channel, 0, data, queue, &write_report, on_write);
  latch_wait(&written);
  CHECK_EQUAL(write_report.error, 0);
  CHECK_EQUAL(write_report.size, 0);
  dispatch_io_close(channel, 0);
  dispatch_release(channel);
  dispatch_release(data);
  latch_wait(&end.done);
  channel = dispatch_io_create_with_path_f(
    DISPATCH_IO_STREAM, path, O_RDONLY, 0, queue, &end_too, on_cleanup);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &read_report, on_read);
  expect_report(&read_report, "written");
  dispatch_release(channel);
  latch_wait(&end_too.done);
  CHECK_EQUAL(end_too.error, 0);
  CHECK(unlink(path) == 0);
}

CASE(io_of_a_relative_path_is_null) {
  static cleanup end = CLEANUP(-1);
  CHECK(!dispatch_io_create_with_path_f(
    DISPATCH_IO_STREAM, "relative", O_RDONLY, 0, global_queue(), &end, on_cleanup));
}

CASE(io_of_an_unknown_type_is_null) {
  static cleanup end = CLEANUP(-1);
  CHECK(!dispatch_io_create_f(7, 0, global_queue(), &end, on_cleanup));
}

CASE(io_of_a_missing_file_tells_the_operation) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  seen.done = &done;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_with_path_f(
    DISPATCH_IO_STREAM, "/nowhere/nothing", O_RDONLY, 0, queue, &end, on_cleanup);
  CHECK(channel);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &seen, on_read);
  latch_wait(&done);
  CHECK_EQUAL(seen.error, ENOENT);
  CHECK_EQUAL(seen.size, 0);
  dispatch_io_close(channel, 0);
  dispatch_release(channel);
  latch_wait(&end.done);
}

static void expect_late_error(
  dispatch_io_type_t type, const char *path, int flags, bool writes, int error
) {
  latch done = LATCH(1);
  cleanup end = CLEANUP(-1);
  static report seen;
  memset(&seen, 0, sizeof seen);
  seen.done = &done;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel =
    dispatch_io_create_with_path_f(type, path, flags, 0600, queue, &end, on_cleanup);
  CHECK(channel);
  if (writes) {
    dispatch_data_t data = dispatch_data_create_f("abc", 3, NULL, NULL);
    dispatch_io_write_f(channel, 0, data, queue, &seen, on_write);
    dispatch_release(data);
  } else {
    dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &seen, on_read);
  }
  latch_wait(&done);
  CHECK_EQUAL(seen.error, error);
  CHECK_EQUAL(seen.dones, 1);
  CHECK_EQUAL(seen.size, writes ? 3 : 0);
  CHECK_EQUAL(dispatch_io_get_descriptor(channel), -1);
  dispatch_io_close(channel, 0);
  dispatch_release(channel);
  latch_wait(&end.done);
  CHECK_EQUAL(end.error, 0);
}

CASE(io_of_a_file_that_cannot_be_opened_tells_the_operation_and_not_the_cleanup_handler) {
  char path[64], other[80];
  close(make_named_file(path));
  for (int writes = 0; writes < 2; writes++) {
    const int exclusive = O_RDWR | O_CREAT | O_EXCL;
    expect_late_error(DISPATCH_IO_STREAM, path, exclusive, writes, EEXIST);
    expect_late_error(DISPATCH_IO_RANDOM, path, exclusive, writes, EEXIST);
  }
  snprintf(other, sizeof other, "%s-link", path);
  CHECK(symlink(path, other) == 0);
  expect_late_error(DISPATCH_IO_STREAM, other, O_RDONLY | O_NOFOLLOW, false, ELOOP);
  CHECK(unlink(other) == 0);
  CHECK(unlink(path) == 0);
  CHECK(mkfifo(path, 0600) == 0);
  expect_late_error(DISPATCH_IO_STREAM, path, O_WRONLY | O_NONBLOCK, true, ENXIO);
  CHECK(unlink(path) == 0);
}

static void expect_no_channel(dispatch_io_type_t type, const char *path, int flags, int error) {
  cleanup end = CLEANUP(-1);
  dispatch_io_t channel =
    dispatch_io_create_with_path_f(type, path, flags, 0600, global_queue(), &end, on_cleanup);
  CHECK(channel);
  latch_wait(&end.done);
  CHECK_EQUAL(end.error, error);
  dispatch_release(channel);
}

CASE(io_of_a_path_that_no_channel_can_be_made_of_tells_the_cleanup_handler) {
  char path[64], other[80];
  close(make_named_file(path));
  expect_no_channel(DISPATCH_IO_STREAM, "/nowhere/nothing", O_RDONLY, ENOENT);
  expect_no_channel(DISPATCH_IO_STREAM, "/nowhere/nothing", O_WRONLY | O_CREAT, ENOENT);
  expect_no_channel(DISPATCH_IO_STREAM, "/", O_RDONLY, EISDIR);
  snprintf(other, sizeof other, "%s/inside", path);
  expect_no_channel(DISPATCH_IO_RANDOM, other, O_RDONLY, ENOTDIR);
  CHECK(unlink(path) == 0);
  CHECK(mkfifo(path, 0600) == 0);
  expect_no_channel(DISPATCH_IO_RANDOM, path, O_RDWR, ESPIPE);
  CHECK(unlink(path) == 0);
}

CASE(io_of_a_bad_descriptor_tells_the_cleanup_handler) {
  static cleanup end = CLEANUP(-1);
  dispatch_io_t channel =
    dispatch_io_create_f(DISPATCH_IO_STREAM, 9999, global_queue(), &end, on_cleanup);
  latch_wait(&end.done);
  CHECK_EQUAL(end.error, EBADF);
  if (channel) dispatch_release(channel);
}

CASE(io_stop_cancels_what_is_under_way) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  seen.done = &done;
  pipe_ends ends = make_pipe();
  end.file = ends.reader;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel =
    dispatch_io_create_f(DISPATCH_IO_STREAM, ends.reader, queue, &end, on_cleanup);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &seen, on_read);
  dispatch_io_close(channel, DISPATCH_IO_STOP);
  latch_wait(&done);
  CHECK_EQUAL(seen.error, ECANCELED);
  CHECK_EQUAL(seen.dones, 1);
  latch_wait(&end.done);
  dispatch_release(channel);
}

CASE(io_closed_channel_refuses_operations) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  seen.done = &done;
  int file = make_file("x", 1);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_STREAM, file, queue, &end, on_cleanup);
  dispatch_io_close(channel, 0);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &seen, on_read);
  latch_wait(&done);
  CHECK_EQUAL(seen.error, ECANCELED);
  dispatch_release(channel);
  latch_wait(&end.done);
}

static journal order = JOURNAL;
static void note_read(void *context, bool done, dispatch_data_t data, int error) {
  if (done) journal_add(&order, 1);
  on_read(context, done, data, error);
}

CASE(io_barrier_comes_after_all_before) {
  static cleanup end = CLEANUP(-1);
  static latch read_done = LATCH(2), barrier_done = LATCH(1);
  static report reports[2];
  int file = make_file("0123456789", 10);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_RANDOM, file, queue, &end, on_cleanup);
  for (int n = 0; n < 2; n++) {
    reports[n].done = &read_done;
    dispatch_io_read_f(channel, n * 5, 5, queue, &reports[n], note_read);
  }
  dispatch_io_barrier_f(channel, &barrier_done, open_latch);
  latch_wait(&barrier_done);
  latch_wait(&read_done);
  CHECK_EQUAL(order.count, 2);
  dispatch_release(channel);
  latch_wait(&end.done);
}

CASE(io_tells_its_descriptor) {
  static cleanup end = CLEANUP(-1);
  int file = make_file("x", 1);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_STREAM, file, queue, &end, on_cleanup);
  static latch there = LATCH(1);
  dispatch_io_barrier_f(channel, &there, open_latch);
  latch_wait(&there);
  CHECK_EQUAL(dispatch_io_get_descriptor(channel), file);
  dispatch_release(channel);
  latch_wait(&end.done);
}

struct barrier_use {
  dispatch_io_t channel;
  int descriptor;
  latch done;
};
static void use_descriptor(void *context) {
  struct barrier_use *use = context;
  use->descriptor = dispatch_io_get_descriptor(use->channel);
  CHECK(fsync(use->descriptor) == 0);
  latch_down(&use->done);
}

CASE(io_tells_its_descriptor_to_a_barrier_from_before_it_was_closed) {
  static cleanup end = CLEANUP(-1);
  static latch written = LATCH(1);
  static report seen;
  seen.done = &written;
  int file = make_file("", 0);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_STREAM, file, queue, &end, on_cleanup);
  static struct barrier_use use = {.done = LATCH(1)};
  use.channel = channel;
  dispatch_data_t data = dispatch_data_create_f("abc", 3, NULL, NULL);
  // The channel is closed before its queue runs the write's handler.
  dispatch_suspend(queue);
  dispatch_io_write_f(channel, 0, data, queue, &seen, on_write);
  dispatch_io_barrier_f(channel, &use, use_descriptor);
  dispatch_io_close(channel, 0);
  dispatch_resume(queue);
  latch_wait(&use.done);
  CHECK_EQUAL(use.descriptor, file);
  latch_wait(&written);
  latch_wait(&end.done);
  CHECK_EQUAL(dispatch_io_get_descriptor(channel), -1);
  dispatch_release(channel);
  dispatch_release(data);
}

CASE(io_of_another_channel) {
  static cleanup end = CLEANUP(-1), end_too = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  seen.done = &done;
  int file = make_file("shared", 6);
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t first = dispatch_io_create_f(DISPATCH_IO_RANDOM, file, queue, &end, on_cleanup);
  dispatch_io_t second =
    dispatch_io_create_with_io_f(DISPATCH_IO_STREAM, first, queue, &end_too, on_cleanup);
  CHECK(second);
  dispatch_release(first);
  dispatch_io_read_f(second, 0, SIZE_MAX, queue, &seen, on_read);
  expect_report(&seen, "shared");
  dispatch_release(second);
  latch_wait(&end.done);
  latch_wait(&end_too.done);
  close(file);
}

CASE(io_high_water_bounds_the_pieces) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  static char content[10000];
  memset(content, 'c', sizeof content);
  seen.done = &done;
  int file = make_file(content, sizeof content);
  end.file = file;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(DISPATCH_IO_STREAM, file, queue, &end, on_cleanup);
  dispatch_io_set_high_water(channel, 1000);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &seen, on_read);
  latch_wait(&done);
  CHECK_EQUAL(seen.size, sizeof content);
  CHECK(seen.calls >= 10);
  dispatch_release(channel);
  latch_wait(&end.done);
}

CASE(io_low_water_gathers_pieces) {
  static cleanup end = CLEANUP(-1);
  static latch done = LATCH(1);
  static report seen;
  seen.done = &done;
  pipe_ends ends = make_pipe();
  end.file = ends.reader;
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel =
    dispatch_io_create_f(DISPATCH_IO_STREAM, ends.reader, queue, &end, on_cleanup);
  dispatch_io_set_low_water(channel, 100);
  dispatch_io_set_interval(channel, 3600 * NSEC_PER_SEC, 0);
  dispatch_io_read_f(channel, 0, 100, queue, &seen, on_read);
  for (int n = 0; n < 100; n++) CHECK_EQUAL(write(ends.writer, "x", 1), 1);
  latch_wait(&done);
  CHECK_EQUAL(seen.size, 100);
  CHECK(seen.calls <= 2);
  dispatch_io_close(channel, 0);
  dispatch_release(channel);
  latch_wait(&end.done);
}

static void once_done(void *context, dispatch_data_t data, int error) {
  on_read(context, true, data, error);
}
static void once_written(void *context, dispatch_data_t data, int error) {
  on_write(context, true, data, error);
}

CASE(read_f_and_write_f_once) {
  static latch written = LATCH(1), read_done = LATCH(1);
  static report write_report, read_report;
  write_report.done = &written, read_report.done = &read_done;
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  dispatch_data_t data = dispatch_data_create_f("message", 7, NULL, NULL);
  dispatch_write_f(ends[0], data, global_queue(), &write_report, once_written);
  latch_wait(&written);
  CHECK_EQUAL(write_report.error, 0);
  CHECK_EQUAL(write_report.size, 0);
  dispatch_read_f(ends[1], 7, global_queue(), &read_report, once_done);
  expect_report(&read_report, "message");
  dispatch_release(data);
}
