// When channels end: cleanup handlers, and the handlers of single reads and writes.
#include "../Check.h"
#include "../Private.h"

#include <fcntl.h>
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
