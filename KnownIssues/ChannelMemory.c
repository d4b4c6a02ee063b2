// A channel reads faster than its handler, and fills the memory
//
// A handler works on each piece for a while. If the channel does not wait for it, the pieces pile
// up: a copy of the whole input in memory.
#include <dispatch/dispatch.h>
#include <fcntl.h>
#include <unistd.h>

#include "Promise.h"

enum { PIECE = 1 << 20, TOTAL = 256 * PIECE };

static void body(void) {
  int file = open("/dev/zero", O_RDONLY);
  dispatch_queue_t queue = dispatch_queue_create("com.example.channel", NULL);
  dispatch_io_t channel = dispatch_io_create(DISPATCH_IO_STREAM, file, queue, ^(int error) {
    (void)error;
  });
  dispatch_io_set_high_water(channel, PIECE);
  __block size_t sum = 0;
  __block long most = 0;
  long before = resident_kib();
  awaiting("the last piece");
  dispatch_io_read(channel, 0, TOTAL, queue, ^(bool done, dispatch_data_t data, int error) {
    sum += data ? dispatch_data_get_size(data) : 0;
    sleep_ms(2);
    long grown = resident_kib() - before;
    if (grown > most) most = grown;
    if (done) {
      DECIDE(sum == TOTAL && error == 0 && most < TOTAL / 4 / 1024,
             "%zu MiB arrived, and memory grew by %ld MiB", sum >> 20, most >> 10);
    }
  });
  for (;;) pause();
}

int main(void) { promise("reading 256 MiB with a slow handler takes a bounded memory", body); }
