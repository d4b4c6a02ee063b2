// The interval of a channel is ignored
//
// A channel with a high low-water mark and an interval must hand over what has arrived whenever
// the interval has passed. Otherwise a slow peer's bytes are held back until the end.
#include <dispatch/dispatch.h>
#include <unistd.h>

#include "Promise.h"

static void body(void) {
  int ends[2];
  if (pipe(ends) != 0) decide(false, "there is no pipe");
  dispatch_queue_t queue = dispatch_queue_create("com.example.channel", NULL);
  dispatch_io_t channel = dispatch_io_create(DISPATCH_IO_STREAM, ends[0], queue, ^(int error) {
    (void)error;
  });
  dispatch_io_set_low_water(channel, 1 << 20);
  dispatch_io_set_interval(channel, 50000000, DISPATCH_IO_STRICT_INTERVAL);
  awaiting("the piece that arrived before the interval passed");
  dispatch_io_read(channel, 0, 1 << 21, queue, ^(bool done, dispatch_data_t data, int error) {
    size_t size = data ? dispatch_data_get_size(data) : 0;
    if (size > 0 || done) {
      DECIDE(size == 5 && !done, "the handler received %zu bytes, %s, error %d", size,
             done ? "the last" : "not the last", error);
    }
  });
  // The pipe stays open, so nothing but the interval can deliver these bytes.
  if (write(ends[1], "early", 5) != 5) decide(false, "the pipe takes no bytes");
  for (;;) pause();
}

int main(void) { promise("a channel hands over what has arrived after each interval", body); }
