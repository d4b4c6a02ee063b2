// When channels end: cleanup handlers.
#include "../Check.h"
#include "../Private.h"

#include <fcntl.h>

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
