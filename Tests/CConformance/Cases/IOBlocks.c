// Channels, with blocks as handlers.
#include "../Check.h"
#include "../Private.h"

#ifdef __BLOCKS__
#include <fcntl.h>
#include <sys/socket.h>

CASE(io_blocks_write_and_read_a_file) {
  static latch written = LATCH(1), read_back = LATCH(1), cleaned = LATCH(2);
  char path[64];
  close(make_named_file(path));
  dispatch_queue_t queue = serial_queue();
  dispatch_data_t data = dispatch_data_create("block bytes", 11, NULL, NULL);
  dispatch_io_t out = dispatch_io_create_with_path(
    DISPATCH_IO_RANDOM, path, O_WRONLY, 0, queue, ^(int error) {
      CHECK_EQUAL(error, 0);
      latch_down(&cleaned);
    });
  dispatch_io_write(out, 4, data, queue, ^(bool done, dispatch_data_t left, int error) {
    CHECK_EQUAL(error, 0);
    if (!done) return;
    CHECK(!left || dispatch_data_get_size(left) == 0);
    latch_down(&written);
  });
  latch_wait(&written);
  dispatch_io_close(out, 0);
  dispatch_release(out);
  int file = open(path, O_RDONLY);
  CHECK(file >= 0);
  dispatch_io_t in = dispatch_io_create(DISPATCH_IO_RANDOM, file, queue, ^(int error) {
    CHECK_EQUAL(error, 0);
    close(file);
    latch_down(&cleaned);
  });
  __block dispatch_data_t all = dispatch_data_empty;
  dispatch_io_read(in, 4, SIZE_MAX, queue, ^(bool done, dispatch_data_t piece, int error) {
    CHECK_EQUAL(error, 0);
    if (piece) all = dispatch_data_create_concat(all, piece);
    if (done) latch_down(&read_back);
  });
  latch_wait(&read_back);
  const void *bytes;
  size_t size;
  dispatch_data_t map = dispatch_data_create_map(all, &bytes, &size);
  CHECK_EQUAL(size, 11);
  CHECK(!memcmp(bytes, "block bytes", 11));
  dispatch_release(map);
  dispatch_release(in);
  latch_wait(&cleaned);
  CHECK(unlink(path) == 0);
  dispatch_release(data);
}

CASE(io_blocks_of_another_channel_and_barrier) {
  static latch cleaned = LATCH(2), passed = LATCH(1);
  int file = make_file("0123456789", 10);
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t first = dispatch_io_create(DISPATCH_IO_RANDOM, file, queue, ^(int error) {
    CHECK_EQUAL(error, 0);
    latch_down(&cleaned);
  });
  dispatch_io_t second = dispatch_io_create_with_io(DISPATCH_IO_RANDOM, first, queue, ^(int error) {
    CHECK_EQUAL(error, 0);
    latch_down(&cleaned);
  });
  __block size_t bytes = 0;
  dispatch_io_read(second, 2, 5, queue, ^(bool done, dispatch_data_t piece, int error) {
    (void)done;
    CHECK_EQUAL(error, 0);
    if (piece) bytes += dispatch_data_get_size(piece);
  });
  dispatch_io_barrier(second, ^{ latch_down(&passed); });
  latch_wait(&passed);
  drain(queue);
  CHECK_EQUAL(bytes, 5);
  dispatch_release(first);
  dispatch_release(second);
  latch_wait(&cleaned);
  close(file);
}

CASE(read_and_write_blocks_once) {
  static latch written = LATCH(1), read_done = LATCH(1);
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  dispatch_data_t data = dispatch_data_create("hi there", 8, NULL, NULL);
  dispatch_write(ends[0], data, global_queue(), ^(dispatch_data_t left, int error) {
    CHECK_EQUAL(error, 0);
    CHECK(!left || dispatch_data_get_size(left) == 0);
    latch_down(&written);
  });
  latch_wait(&written);
  dispatch_read(ends[1], 8, global_queue(), ^(dispatch_data_t got, int error) {
    CHECK_EQUAL(error, 0);
    CHECK_EQUAL(dispatch_data_get_size(got), 8);
    latch_down(&read_done);
  });
  latch_wait(&read_done);
  dispatch_release(data);
}

CASE(write_to_a_closed_pipe_tells_what_is_left) {
  static latch written = LATCH(1);
  signal(SIGPIPE, SIG_IGN);
  pipe_ends ends = make_pipe();
  close(ends.reader);
  dispatch_data_t data = dispatch_data_create("lost", 4, NULL, NULL);
  dispatch_write(ends.writer, data, global_queue(), ^(dispatch_data_t left, int error) {
    CHECK_EQUAL(error, EPIPE);
    CHECK(left);
    CHECK_EQUAL(dispatch_data_get_size(left), 4);
    latch_down(&written);
  });
  latch_wait(&written);
  dispatch_release(data);
}
#endif
