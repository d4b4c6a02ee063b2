// The end of a socket is not delivered, or is delivered without end
//
// The other side of a socket sends its last bytes and closes. The handler reads the bytes and must
// then see the end; if it does not cancel the source yet, the end must not call it again and again,
// which would take a CPU for nothing.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "Promise.h"

static double cpu_seconds(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static atomic_long calls;

// Sends bytes to a source and closes, and waits until the handler sees the end.
static void hang_up(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) decide(false, "there is no socket");
  int end = ends[0];
  dispatch_queue_t queue = dispatch_queue_create("com.example.reader", NULL);
  dispatch_semaphore_t at_end = dispatch_semaphore_create(0);
  __block bool is_seen = false;
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)end, 0, queue);
  dispatch_source_set_event_handler(source, ^{
    char bytes[16];
    if (read(end, bytes, sizeof bytes) != 0) return;
    calls++;
    if (!is_seen) dispatch_semaphore_signal(at_end);
    is_seen = true;
  });
  if (write(ends[1], "end", 3) != 3) decide(false, "the socket takes no bytes");
  close(ends[1]);
  dispatch_resume(source);
  dispatch_semaphore_wait(at_end, DISPATCH_TIME_FOREVER);
}

static void body(void) {
  enum { SOCKETS = 50 };
  for (int i = 1; i <= SOCKETS; i++) {
    char text[40];
    snprintf(text, sizeof text, "the end of socket %d of %d", i, SOCKETS);
    awaiting(text);
    hang_up();
  }
  double before = cpu_seconds();
  sleep_ms(1000);
  long count = calls;
  DECIDE(count < 10 * SOCKETS, "handlers of %d sockets saw the end %ld times; a second took %.2f s of CPU",
         SOCKETS, count, cpu_seconds() - before);
}

int main(void) {
  promise("the end of each socket is delivered, and then the process is quiet", body);
}
