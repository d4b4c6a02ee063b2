// Peers that exchange messages in bursts, with pauses between them, as clients do. Each call of a
// handler finds something: programs read or accept once in a call, and many of them may block.
#include "../Check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// The pauses are the pattern under test: nothing that a program sees tells it that a library's
// threads have gone back to waiting together.
enum { CONNECTIONS = 8, BURSTS = 40, ROUNDS = 40, PAUSE_MICROSECONDS = 3000 };

static atomic_int for_nothing;

static void note(ssize_t result) {
  if (result < 0 && errno == EAGAIN) atomic_fetch_add(&for_nothing, 1);
}

static dispatch_source_t listen_to(
  int descriptor, dispatch_queue_t queue, dispatch_function_t handler) {
  CHECK_EQUAL(fcntl(descriptor, F_SETFL, O_NONBLOCK), 0);
  dispatch_source_t source =
    dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)descriptor, 0, queue);
  CHECK(source);
  dispatch_set_context(source, (void *)(intptr_t)descriptor);
  dispatch_source_set_event_handler_f(source, handler);
  dispatch_activate(source);
  return source;
}

static void answer_byte(void *context) {
  int descriptor = (int)(intptr_t)context;
  char byte;
  ssize_t got = read(descriptor, &byte, 1);
  note(got);
  if (got == 1) CHECK_EQUAL(write(descriptor, &byte, 1), 1);
}

static void exchange(int descriptor) {
  char byte = 'x';
  CHECK_EQUAL(write(descriptor, &byte, 1), 1);
}

static void receive(int descriptor) {
  char byte;
  CHECK_EQUAL(read(descriptor, &byte, 1), 1);
}

// Bursts on all connections at a time; each queue is `shared`, or the connection's own.
static void exchange_in_bursts(dispatch_queue_t shared) {
  int far[CONNECTIONS];
  dispatch_source_t sources[CONNECTIONS];
  for (int n = 0; n < CONNECTIONS; n++) {
    int ends[2];
    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    far[n] = ends[1];
    sources[n] = listen_to(ends[0], shared ? shared : serial_queue(), answer_byte);
  }
  for (int burst = 0; burst < BURSTS; burst++) {
    for (int round = 0; round < ROUNDS; round++) {
      for (int n = 0; n < CONNECTIONS; n++) exchange(far[n]);
      for (int n = 0; n < CONNECTIONS; n++) receive(far[n]);
    }
    usleep(PAUSE_MICROSECONDS);
  }
  for (int n = 0; n < CONNECTIONS; n++) dispatch_source_cancel(sources[n]);
  CHECK_EQUAL(for_nothing, 0);
}

CASE(handlers_on_one_queue_find_a_message_after_each_pause) {
  exchange_in_bursts(serial_queue());
}

CASE(handlers_on_a_concurrent_queue_find_a_message_after_each_pause) {
  exchange_in_bursts(concurrent_queue());
}

CASE(handlers_on_queues_of_their_own_find_a_message_after_each_pause) {
  exchange_in_bursts(NULL);
}

static void accept_one(void *context) {
  int accepted = accept((int)(intptr_t)context, NULL, NULL);
  note(accepted);
  if (accepted < 0) return;
  CHECK_EQUAL(write(accepted, "x", 1), 1);
  close(accepted);
}

CASE(a_handler_that_accepts_finds_a_connection_after_each_pause) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  // With a size of the family alone, the kernel chooses the name: unix(7).
  CHECK_EQUAL(bind(listener, (struct sockaddr *)&address, sizeof address.sun_family), 0);
  socklen_t size = sizeof address;
  CHECK_EQUAL(getsockname(listener, (struct sockaddr *)&address, &size), 0);
  CHECK_EQUAL(listen(listener, 64), 0);
  dispatch_source_t source = listen_to(listener, serial_queue(), accept_one);
  for (int burst = 0; burst < 2 * BURSTS; burst++) {
    for (int round = 0; round < ROUNDS; round++) {
      int client = socket(AF_UNIX, SOCK_STREAM, 0);
      CHECK_EQUAL(connect(client, (struct sockaddr *)&address, size), 0);
      receive(client);
      close(client);
    }
    usleep(PAUSE_MICROSECONDS);
  }
  dispatch_source_cancel(source);
  CHECK_EQUAL(for_nothing, 0);
}
