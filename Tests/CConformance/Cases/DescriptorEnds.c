// Ends and errors that a source has reported, and that its program deals with later.
#include "../Check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

static struct sockaddr_in local_address(int socket) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK_EQUAL(bind(socket, (struct sockaddr *)&address, size), 0);
  CHECK_EQUAL(getsockname(socket, (struct sockaddr *)&address, &size), 0);
  return address;
}

static dispatch_source_t begin(
  dispatch_source_type_t type, int descriptor, dispatch_queue_t queue,
  dispatch_function_t handler) {
  dispatch_source_t source = dispatch_source_create(type, (uintptr_t)descriptor, 0, queue);
  CHECK(source);
  dispatch_source_set_event_handler_f(source, handler);
  dispatch_activate(source);
  return source;
}

// A reader with a limited rate. Every other event finds it without permission to read: it suspends
// its source, and the main thread resumes it.
static dispatch_source_t paced;
static dispatch_semaphore_t waits;
static int stream;
static bool may_read;
static atomic_int is_over, bytes;

static void read_at_a_limited_rate(void *context) {
  (void)context;
  if (!may_read) {
    may_read = true;
    dispatch_suspend(paced);
  } else {
    may_read = false;
    char buffer[4];
    ssize_t got = read(stream, buffer, sizeof buffer);
    if (got > 0) atomic_fetch_add(&bytes, (int)got);
    if (got != 0) return;
    dispatch_source_cancel(paced);
    is_over = 1;
  }
  dispatch_semaphore_signal(waits);
}

// Connects two TCP sockets.
static pipe_ends make_connection(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = local_address(listener);
  CHECK_EQUAL(listen(listener, 1), 0);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_EQUAL(connect(client, (struct sockaddr *)&address, sizeof address), 0);
  return (pipe_ends){accept(listener, NULL, NULL), client};
}

static void expect_the_end(int reader, int writer) {
  stream = reader;
  waits = dispatch_semaphore_create(0);
  dispatch_queue_t queue = serial_queue();
  // Suspended first, so that the handler finds its own source in `paced`.
  dispatch_suspend(queue);
  paced = begin(DISPATCH_SOURCE_TYPE_READ, reader, queue, read_at_a_limited_rate);
  CHECK_EQUAL(write(writer, "0123456789", 10), 10);
  close(writer);
  dispatch_resume(queue);
  while (true) {
    CHECK_EQUAL(dispatch_semaphore_wait(waits, deadline()), 0);
    if (is_over) break;
    dispatch_resume(paced);
  }
  CHECK_EQUAL(bytes, 10);
}

static latch first_saw_end = LATCH(1), second_saw_end = LATCH(1);
static void see_end_first(void *context) {
  static atomic_bool is_seen;
  (void)context;
  if (!atomic_exchange(&is_seen, true)) latch_down(&first_saw_end);
}
static void see_end_second(void *context) {
  static atomic_bool is_seen;
  (void)context;
  if (!atomic_exchange(&is_seen, true)) latch_down(&second_saw_end);
}

// Replaces the handler of a reader that has seen the end. If `is_answered`, the first handler is
// gone, and its event answered, before there is a second one.
static void expect_the_end_again(pipe_ends ends, bool is_answered) {
  dispatch_queue_t queue = serial_queue();
  dispatch_source_t source = begin(DISPATCH_SOURCE_TYPE_READ, ends.reader, queue, see_end_first);
  close(ends.writer);
  latch_wait(&first_saw_end);
  if (is_answered) {
    dispatch_source_set_event_handler_f(source, NULL);
    drain(queue);
  }
  dispatch_source_set_event_handler_f(source, see_end_second);
  latch_wait(&second_saw_end);
}

CASE(an_end_is_reported_to_a_handler_that_replaces_another) {
  expect_the_end_again(make_connection(), false);
}

CASE(an_end_is_reported_to_a_handler_that_is_set_after_one_was_removed) {
  expect_the_end_again(make_connection(), true);
}

BEYOND(a_hang_up_is_reported_to_a_handler_that_replaces_another, "the peer reports it once") {
  expect_the_end_again(make_pipe(), false);
}

CASE(an_end_that_is_not_read_is_reported_after_a_resume) {
  pipe_ends ends = make_connection();
  expect_the_end(ends.reader, ends.writer);
}

BEYOND(
  the_end_of_a_pipe_that_is_not_read_is_reported_after_a_resume,
  "the toolchain's reports the end of a pipe once") {
  pipe_ends ends = make_pipe();
  expect_the_end(ends.reader, ends.writer);
}

// A sender whose server is down. Each datagram is refused, which the next call returns as an error.
enum { SENDS = 50 };
static int sender;
static atomic_int sends, refusals;
static latch all_sent = LATCH(1);

static void send_datagram(void *context) {
  (void)context;
  if (send(sender, "x", 1, 0) < 0 && errno == ECONNREFUSED) atomic_fetch_add(&refusals, 1);
  if (atomic_fetch_add(&sends, 1) == SENDS) latch_down(&all_sent);
}

static void receive_refusal(void *context) {
  (void)context;
  char byte;
  if (recv(sender, &byte, 1, 0) < 0 && errno == ECONNREFUSED) atomic_fetch_add(&refusals, 1);
}

static void connect_to_a_closed_port(void) {
  int closed = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = local_address(closed);
  close(closed);
  sender = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  CHECK_EQUAL(connect(sender, (struct sockaddr *)&address, sizeof address), 0);
}

CASE(a_write_source_continues_after_an_error_that_a_call_returned) {
  connect_to_a_closed_port();
  begin(DISPATCH_SOURCE_TYPE_WRITE, sender, serial_queue(), send_datagram);
  latch_wait(&all_sent);
  CHECK(refusals > 0);
}

CASE(a_write_source_continues_after_an_error_that_the_reader_took) {
  connect_to_a_closed_port();
  begin(DISPATCH_SOURCE_TYPE_READ, sender, serial_queue(), receive_refusal);
  begin(DISPATCH_SOURCE_TYPE_WRITE, sender, serial_queue(), send_datagram);
  latch_wait(&all_sent);
  CHECK(refusals > 0);
}
