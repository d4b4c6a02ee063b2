// The low-water mark of a channel is ignored
//
// A channel with a low-water mark of 64 KiB must not call its handler with less, except for the
// last piece. The bytes arrive in small pieces here.
#include <dispatch/dispatch.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "Promise.h"

enum { LOW = 1 << 16, TOTAL = 10 * LOW + 100 };

static void feed(int socket) {
  static char bytes[1000];
  for (size_t rest = TOTAL; rest > 0;) {
    ssize_t count = write(socket, bytes, rest < sizeof bytes ? rest : sizeof bytes);
    if (count < 0) decide(false, "the socket takes no bytes");
    rest -= (size_t)count;
  }
  shutdown(socket, SHUT_WR);
}

static void body(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) decide(false, "there is no socket");
  dispatch_queue_t queue = dispatch_queue_create("com.example.channel", NULL);
  dispatch_io_t channel = dispatch_io_create(DISPATCH_IO_STREAM, ends[0], queue, ^(int error) {
    (void)error;
  });
  dispatch_io_set_low_water(channel, LOW);
  __block size_t sum = 0;
  __block int pieces = 0, small = 0;
  __block bool was_small = false;
  awaiting("the last piece");
  dispatch_io_read(channel, 0, SIZE_MAX, queue, ^(bool done, dispatch_data_t data, int error) {
    size_t size = data ? dispatch_data_get_size(data) : 0;
    sum += size;
    pieces += size > 0;
    // A small piece is the last one, unless another follows.
    small += was_small && size > 0;
    was_small = size < LOW;
    if (done) {
      DECIDE(sum == TOTAL && small == 0 && error == 0,
             "%zu of %d bytes arrived in %d pieces, %d of them too small", sum, TOTAL, pieces, small);
    }
  });
  feed(ends[1]);
  for (;;) pause();
}

int main(void) { promise("all but the last piece of a read reach the low-water mark", body); }
