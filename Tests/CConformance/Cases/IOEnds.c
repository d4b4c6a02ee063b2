// When channels end: cleanup handlers, and the handlers of single reads and writes.
#define _GNU_SOURCE
#include "../Check.h"
#include "../Private.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

// MARK: A path is not opened after the cleanup handler

enum { BATCHES = 20, CHANNELS = 64 };

typedef struct opened {
  dispatch_io_t channel;
  char path[96];
  latch *removed;
} opened;

static void remove_file(void *context, int error) {
  opened *one = context;
  CHECK_EQUAL(error, 0);
  // It exists only if the channel opened it before it was stopped.
  CHECK(unlink(one->path) == 0 || errno == ENOENT);
  latch_down(one->removed);
}
static void ignore_end(void *context, bool done, dispatch_data_t rest, int error) {
  (void)context, (void)done, (void)rest, (void)error;
}

// Many channels are stopped while the library opens their files, or is about to. A file that is
// opened after its cleanup handler is found at the end, when later batches have come and gone.
CASE(io_opens_no_file_after_its_cleanup_handler) {
  char folder[64];
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/conformance-XXXXXX",
    parent && strlen(parent) < 40 ? parent : "/tmp");
  CHECK(mkdtemp(folder));
  dispatch_queue_t queue = serial_queue();
  dispatch_data_t data = dispatch_data_create_f("abc", 3, NULL, NULL);
  static opened all[BATCHES][CHANNELS];
  for (int batch = 0; batch < BATCHES; batch++) {
    latch removed = LATCH(CHANNELS);
    for (int n = 0; n < CHANNELS; n++) {
      opened *one = &all[batch][n];
      one->removed = &removed;
      snprintf(one->path, sizeof one->path, "%s/%d-%d", folder, batch, n);
      one->channel = dispatch_io_create_with_path_f(
        DISPATCH_IO_STREAM, one->path, O_WRONLY | O_CREAT, 0600, queue, one, remove_file);
      CHECK(one->channel);
      dispatch_io_write_f(one->channel, 0, data, queue, NULL, ignore_end);
    }
    for (int n = 0; n < CHANNELS; n++) {
      dispatch_io_close(all[batch][n].channel, DISPATCH_IO_STOP);
      dispatch_release(all[batch][n].channel);
    }
    latch_wait(&removed);
  }
  dispatch_release(data);
  // Fails if a file has come back.
  CHECK(rmdir(folder) == 0);
}

// MARK: A single write does not wait for a later read

enum { PAIRS = 4, ROUNDS = 2000 };

static void note_written(void *context, dispatch_data_t rest, int error) {
  (void)rest;
  CHECK_EQUAL(error, 0);
  latch_down(context);
}
static void note_read(void *context, dispatch_data_t data, int error) {
  CHECK_EQUAL(error, 0);
  CHECK_EQUAL(dispatch_data_get_size(data), 1);
  latch_down(context);
}

// The peer answers only when the handler of the write has run.
static void *ask_and_answer(void *nothing) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  dispatch_data_t question = dispatch_data_create_f("?", 1, NULL, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    latch written = LATCH(1), got = LATCH(1);
    dispatch_write_f(ends[0], question, global_queue(), &written, note_written);
    char byte;
    CHECK_EQUAL(read(ends[1], &byte, 1), 1);
    // The write has been made, and its handler is on its way.
    dispatch_read_f(ends[0], 1, global_queue(), &got, note_read);
    latch_wait(&written);
    CHECK_EQUAL(write(ends[1], "!", 1), 1);
    latch_wait(&got);
  }
  dispatch_release(question);
  close(ends[0]);
  close(ends[1]);
  return nothing;
}

// Several descriptors at once: their threads compete for what the library keeps for all of them.
BEYOND(the_handler_of_a_single_write_does_not_wait_for_a_later_read,
  "its handler runs when the descriptor has no other channel, also none that was made later") {
  pthread_t threads[PAIRS];
  for (int n = 0; n < PAIRS; n++) {
    CHECK(pthread_create(&threads[n], NULL, ask_and_answer, NULL) == 0);
  }
  for (int n = 0; n < PAIRS; n++) CHECK(pthread_join(threads[n], NULL) == 0);
}

// MARK: The last bytes come before the error

// What a handler gets that ignores the data of a call with an error, as programs do.
typedef struct received {
  size_t bytes;
  size_t calls_with_error_and_bytes;
  int error;
  latch over;
} received;

static void receive(void *context, bool done, dispatch_data_t data, int error) {
  received *all = context;
  size_t bytes = data ? dispatch_data_get_size(data) : 0;
  if (error == 0) {
    all->bytes += bytes;
  } else if (bytes > 0) {
    all->calls_with_error_and_bytes++;
  }
  if (!done) return;
  all->error = error;
  latch_down(&all->over);
}

static void ignore_cleanup(void *context, int error) { (void)context, (void)error; }

static received read_all(int descriptor, void (*end)(int peer, dispatch_io_t channel), int peer) {
  received all = {.over = LATCH(1)};
  dispatch_queue_t queue = serial_queue();
  dispatch_io_t channel = dispatch_io_create_f(
    DISPATCH_IO_STREAM, descriptor, queue, NULL, ignore_cleanup);
  dispatch_io_set_low_water(channel, 1000000);
  dispatch_io_read_f(channel, 0, SIZE_MAX, queue, &all, receive);
  end(peer, channel);
  latch_wait(&all.over);
  dispatch_release(channel);
  dispatch_release(queue);
  return all;
}

static void expect_bytes_before(received all, size_t bytes, int error) {
  CHECK_EQUAL(all.error, error);
  CHECK_EQUAL(all.bytes, bytes);
  CHECK_EQUAL(all.calls_with_error_and_bytes, 0);
}

static void close_peer(int peer, dispatch_io_t channel) {
  (void)channel;
  close(peer);
}

// A terminal's other end reports EIO when the last program has closed it, as after the output of
// each child.
CASE(io_read_gives_the_output_of_a_terminal_before_its_error) {
  for (int round = 0; round < 20; round++) {
    int own = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(own >= 0 && grantpt(own) == 0 && unlockpt(own) == 0);
    int peer = open(ptsname(own), O_RDWR | O_NOCTTY);
    CHECK(peer >= 0);
    CHECK_EQUAL(write(peer, "abc", 3), 3);
    expect_bytes_before(read_all(own, close_peer, peer), 3, EIO);
    close(own);
  }
}

// With bytes that were not read, the end of one socket of a pair is a reset for the other.
CASE(io_read_gives_the_bytes_of_a_socket_before_its_reset) {
  for (int round = 0; round < 20; round++) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK_EQUAL(write(ends[0], "unread", 6), 6);
    CHECK_EQUAL(write(ends[1], "abc", 3), 3);
    expect_bytes_before(read_all(ends[0], close_peer, ends[1]), 3, ECONNRESET);
    close(ends[0]);
  }
}

// More than a quarter of the room that the sender has, in one piece: the socket is writable again
// once the channel has read all of it.
enum { UNREPORTED = 4000, SENDING_ROOM = 4608 };

static void stop_with_bytes(int peer, dispatch_io_t channel) {
  static char bytes[UNREPORTED];
  int room = SENDING_ROOM;
  CHECK(setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
  CHECK_EQUAL(write(peer, bytes, sizeof bytes), sizeof bytes);
  struct pollfd writable = {.fd = peer, .events = POLLOUT};
  CHECK_EQUAL(poll(&writable, 1, -1), 1);
  dispatch_io_close(channel, DISPATCH_IO_STOP);
}

BEYOND(io_read_gives_what_it_has_read_before_it_is_stopped,
       "a read that waits for a descriptor is not always stopped") {
  for (int round = 0; round < 20; round++) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    expect_bytes_before(read_all(ends[0], stop_with_bytes, ends[1]), UNREPORTED, ECANCELED);
    close(ends[0]);
    close(ends[1]);
  }
}

// MARK: A reader that goes while a write waits

static _Atomic int error_of_write;
static void note_end_of_write(void *context, bool done, dispatch_data_t rest, int error) {
  (void)rest;
  if (!done) return;
  atomic_store(&error_of_write, error);
  latch_down(context);
}

// Another process may make a pipe blocking, since the flag belongs to the open file. A write then
// waits when the pipe is full, and the kernel raises SIGPIPE although it has moved some bytes.
BEYOND(io_write_that_waits_for_a_reader_raises_no_signal_when_that_goes,
  "the peer blocks no signal in a write") {
  signal(SIGPIPE, SIG_DFL);
  pipe_ends ends = make_pipe();
  static latch ended = LATCH(1);
  dispatch_io_t channel = dispatch_io_create_f(
    DISPATCH_IO_STREAM, ends.writer, serial_queue(), NULL, ignore_cleanup);
  enum { MANY = 1 << 20 };
  char *bytes = calloc(1, MANY);
  dispatch_data_t data = dispatch_data_create_f(bytes, MANY, NULL, NULL);
  // The channel has set the flag by the time that a first write has ended.
  latch first = LATCH(1);
  dispatch_data_t one = dispatch_data_create_f("a", 1, NULL, NULL);
  dispatch_io_write_f(channel, 0, one, serial_queue(), &first, note_end_of_write);
  latch_wait(&first);
  int flags = fcntl(ends.writer, F_GETFL);
  CHECK(fcntl(ends.writer, F_SETFL, flags & ~O_NONBLOCK) == 0);
  dispatch_io_write_f(channel, 0, data, serial_queue(), &ended, note_end_of_write);
  // The pipe is full when the write has moved some bytes, and waits or is about to.
  struct pollfd writable = {.fd = ends.writer, .events = POLLOUT};
  while (poll(&writable, 1, 0) == 1) sched_yield();
  close(ends.reader);
  latch_wait(&ended);
  CHECK_EQUAL(error_of_write, EPIPE);
}
