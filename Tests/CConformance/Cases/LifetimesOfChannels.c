// The last reference to a channel, or to data, races with each call that may run its handlers.
#include "../Lifetimes.h"
#include "../Private.h"

#include <fcntl.h>
#include <sys/socket.h>

typedef struct flow {
  dispatch_io_t channel;
  int file, other;
  _Atomic int parts;  // handlers that have not run yet, including the cleanup handler
} flow;

static void end_part(flow *one) {
  if (atomic_fetch_sub(&one->parts, 1) != 1) return;
  if (one->other >= 0) close(one->other);
  free(one);
  ended();
}

static void clean_up(void *context, int error) {
  flow *one = context;
  CHECK_EQUAL(error, 0);
  close(one->file);
  end_part(one);
}

static flow *new_flow(int file, int other, int parts) {
  flow *made = calloc(1, sizeof *made);
  CHECK(made);
  made->file = file;
  made->other = other;
  atomic_init(&made->parts, parts + 1);
  made->channel =
    dispatch_io_create_f(DISPATCH_IO_STREAM, file, some_queue(), made, clean_up);
  CHECK(made->channel);
  dispatch_io_set_low_water(made->channel, 1);
  return made;
}

static flow *new_pipe_flow(int parts) {
  pipe_ends ends = make_pipe();
  return new_flow(ends.reader, ends.writer, parts);
}

// MARK: Reading

static void release_when_read(void *context, bool done, dispatch_data_t data, int error) {
  flow *one = context;
  (void)data, (void)error;
  if (!done) return;
  dispatch_release(one->channel);
  end_part(one);
}

LIFETIME(channel_released_by_its_reader) {
  flow *one = new_pipe_flow(1);
  CHECK(write(one->other, "abc", 3) == 3);
  dispatch_io_read_f(one->channel, 0, 3, some_queue(), one, release_when_read);
}

static void write_three(void *context) {
  flow *one = context;
  CHECK(write(one->other, "abc", 3) == 3);
  end_part(one);
}

LIFETIME(channel_that_waits_for_a_writer) {
  flow *one = new_pipe_flow(2);
  elsewhere(one, write_three);
  dispatch_io_read_f(one->channel, 0, 3, some_queue(), one, release_when_read);
}

static void close_and_release_when_read(
  void *context, bool done, dispatch_data_t data, int error) {
  flow *one = context;
  (void)data, (void)error;
  if (!done) return;
  dispatch_io_close(one->channel, DISPATCH_IO_STOP);
  dispatch_release(one->channel);
  end_part(one);
}

LIFETIME(channel_closed_by_its_reader) {
  flow *one = new_pipe_flow(2);
  elsewhere(one, write_three);
  dispatch_io_read_f(one->channel, 0, 3, some_queue(), one, close_and_release_when_read);
}

static void count_read(void *context, bool done, dispatch_data_t data, int error) {
  (void)data, (void)error;
  if (done) end_part(context);
}

// The thread that started the read stops the channel; the cleanup handler may run inside that call.
LIFETIME(channel_stopped_while_it_reads) {
  flow *one = new_pipe_flow(1);
  dispatch_io_t channel = one->channel;
  dispatch_io_read_f(channel, 0, 3, some_queue(), one, count_read);
  pause_a_little();
  dispatch_io_close(channel, DISPATCH_IO_STOP);
  dispatch_release(channel);
}

static void clean_up_and_release(void *context, int error) {
  flow *one = context;
  (void)error;
  close(one->file);
  dispatch_release(one->channel);
  end_part(one);
}

// The cleanup handler holds the only reference.
LIFETIME(channel_released_by_its_cleanup_handler) {
  flow *one = calloc(1, sizeof *one);
  CHECK(one);
  pipe_ends ends = make_pipe();
  one->file = ends.reader, one->other = ends.writer;
  atomic_init(&one->parts, 1);
  one->channel =
    dispatch_io_create_f(DISPATCH_IO_STREAM, one->file, some_queue(), one, clean_up_and_release);
  dispatch_io_close(one->channel, chance(2) ? DISPATCH_IO_STOP : 0);
}

// MARK: Writing

static void release_when_written(void *context, bool done, dispatch_data_t data, int error) {
  flow *one = context;
  (void)data;
  if (!done) return;
  CHECK_EQUAL(error, 0);
  dispatch_release(one->channel);
  end_part(one);
}

static void ignore(void *bytes) { (void)bytes; }

LIFETIME(channel_released_by_its_writer) {
  int ends[2];
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
  flow *one = new_flow(ends[0], ends[1], 1);
  static char hello[] = "hello";
  dispatch_data_t data = dispatch_data_create_f(hello, 5, NULL, ignore);
  dispatch_io_write_f(one->channel, 0, data, some_queue(), one, release_when_written);
  dispatch_release(data);
}

// MARK: Barriers, files, channels made from channels

static void release_in_barrier(void *context) {
  flow *one = context;
  dispatch_release(one->channel);
  end_part(one);
}

LIFETIME(channel_released_in_a_barrier) {
  flow *one = new_pipe_flow(1);
  dispatch_io_barrier_f(one->channel, one, release_in_barrier);
}

static void clean_up_path(void *context, int error) {
  CHECK_EQUAL(error, 0);
  end_part(context);
}

LIFETIME(channel_of_a_path) {
  flow *one = calloc(1, sizeof *one);
  CHECK(one);
  one->file = one->other = -1;
  atomic_init(&one->parts, 2);
  one->channel = dispatch_io_create_with_path_f(
    DISPATCH_IO_RANDOM, "/etc/passwd", O_RDONLY, 0, some_queue(), one, clean_up_path);
  CHECK(one->channel);
  dispatch_io_read_f(one->channel, 0, 10, some_queue(), one, release_when_read);
}

LIFETIME(channel_of_a_channel) {
  flow *one = new_pipe_flow(2);
  dispatch_io_t first = one->channel;
  one->channel = dispatch_io_create_with_io_f(
    DISPATCH_IO_STREAM, first, some_queue(), one, clean_up_path);
  CHECK(one->channel);
  CHECK(write(one->other, "abc", 3) == 3);
  dispatch_io_read_f(one->channel, 0, 3, some_queue(), one, release_when_read);
  dispatch_release(first);
}

// The handlers use a channel that the program has released.
static void use_when_read(void *context, bool done, dispatch_data_t data, int error) {
  flow *one = context;
  (void)data;
  CHECK_EQUAL(error, 0);
  dispatch_io_set_low_water(one->channel, 2);
  // The barrier may have closed the channel since the read ended.
  int descriptor = dispatch_io_get_descriptor(one->channel);
  CHECK(descriptor == one->file || descriptor == -1);
  if (done) end_part(one);
}

static void close_in_barrier(void *context) {
  flow *one = context;
  CHECK_EQUAL(dispatch_io_get_descriptor(one->channel), one->file);
  dispatch_io_close(one->channel, chance(2) ? DISPATCH_IO_STOP : 0);
  end_part(one);
}

LIFETIME(channel_released_before_its_handlers) {
  flow *one = new_pipe_flow(3);
  dispatch_io_t channel = one->channel;
  dispatch_io_read_f(channel, 0, 3, some_queue(), one, use_when_read);
  dispatch_io_barrier_f(channel, one, close_in_barrier);
  elsewhere(one, write_three);
  dispatch_release(channel);
}

// MARK: Once

static void end_one_read(void *context, dispatch_data_t data, int error) {
  flow *one = context;
  (void)data;
  CHECK_EQUAL(error, 0);
  close(one->file);
  end_part(one);
}

LIFETIME(one_read) {
  flow *one = calloc(1, sizeof *one);
  CHECK(one);
  pipe_ends ends = make_pipe();
  one->file = ends.reader, one->other = ends.writer;
  atomic_init(&one->parts, 2);
  elsewhere(one, write_three);
  dispatch_read_f(one->file, 3, some_queue(), one, end_one_read);
}

// MARK: Data

static void free_and_end(void *bytes) {
  free(bytes);
  ended();
}

static void release_it(void *data) { dispatch_release((dispatch_data_t)data); }

LIFETIME(data_released_by_another_thread) {
  char *bytes = calloc(1, 64);
  CHECK(bytes);
  dispatch_data_t data = dispatch_data_create_f(bytes, 64, some_queue(), free_and_end);
  dispatch_data_t part = dispatch_data_create_subrange(data, 3, 20);
  dispatch_data_t both = dispatch_data_create_concat(part, data);
  elsewhere((void *)data, release_it);
  dispatch_release(part);
  dispatch_async_f(some_queue(), (void *)both, release_it);
}

// Takes a region, drops a reference to the data, and reads the region.
static void read_region_and_release(void *data) {
  size_t offset;
  const void *bytes;
  dispatch_data_t region = dispatch_data_copy_region((dispatch_data_t)data, 25, &offset);
  dispatch_release((dispatch_data_t)data);
  dispatch_data_t map = dispatch_data_create_map(region, &bytes, NULL);
  CHECK_EQUAL(*(const char *)bytes, 0);
  CHECK_EQUAL(offset, 20);
  dispatch_release(region);
  dispatch_release(map);
}

LIFETIME(data_region_taken_by_two_threads) {
  char *bytes = calloc(1, 64);
  CHECK(bytes);
  dispatch_data_t data = dispatch_data_create_f(bytes, 64, some_queue(), free_and_end);
  dispatch_data_t part = dispatch_data_create_subrange(data, 3, 20);
  dispatch_data_t both = dispatch_data_create_concat(part, data);
  dispatch_release(part);
  dispatch_release(data);
  dispatch_retain(both);
  elsewhere((void *)both, read_region_and_release);
  read_region_and_release((void *)both);
}
