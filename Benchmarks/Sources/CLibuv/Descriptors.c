// Descriptors that become ready: the libuv versions of the handlers in Sources.swift.
#include "CLibuv.h"
#include "Internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "bench: wrong result with libuv: %s (errno %d)\n", what, errno);
  _exit(70);
}

void run_out(uv_loop_t *loop) {
  uv_run(loop, UV_RUN_DEFAULT);
  require(uv_loop_close(loop) == 0, "handles were left open");
}

/// One end of a pair: echoes messages, or forwards them a given number of times.
struct end {
  uv_poll_t poll;
  int descriptor;
  int message_bytes;
  int left;
};

static int receive(struct end *end) {
  char message[end->message_bytes];
  ssize_t length = read(end->descriptor, message, end->message_bytes);
  if (length < 0 && errno == EAGAIN) return 0;
  require(length == end->message_bytes, "a message came in parts");
  return 1;
}

static void send_one(struct end *end) {
  char message[end->message_bytes];
  memset(message, 7, end->message_bytes);
  ssize_t length = write(end->descriptor, message, end->message_bytes);
  require(length == end->message_bytes, "a short write");
}

static void on_echo(uv_poll_t *poll, int status, int events) {
  struct end *end = poll->data;
  require(status == 0 && (events & UV_READABLE), "echo");
  if (!receive(end)) return;
  send_one(end);
  if (--end->left == 0) uv_close((uv_handle_t *)poll, NULL);
}

static void on_answer(uv_poll_t *poll, int status, int events) {
  struct end *end = poll->data;
  require(status == 0 && (events & UV_READABLE), "answer");
  if (!receive(end)) return;
  if (--end->left == 0) {
    uv_close((uv_handle_t *)poll, NULL);
  } else {
    send_one(end);
  }
}

static void open_end(
    uv_loop_t *loop, struct end *end, int descriptor, int count, int message_bytes,
    uv_poll_cb handler) {
  *end = (struct end){.descriptor = descriptor, .message_bytes = message_bytes, .left = count};
  require(uv_poll_init(loop, &end->poll, descriptor) == 0, "uv_poll_init");
  end->poll.data = end;
  require(uv_poll_start(&end->poll, UV_READABLE, handler) == 0, "uv_poll_start");
}

void libuv_echo(int descriptor, int count, int message_bytes, libuv_ready ready, void *context) {
  uv_loop_t loop;
  struct end end;
  require(uv_loop_init(&loop) == 0, "uv_loop_init");
  open_end(&loop, &end, descriptor, count, message_bytes, on_echo);
  ready(context);
  run_out(&loop);
}

uint64_t libuv_rallies(const int *descriptors, int pairs, int rounds, int message_bytes) {
  uv_loop_t loop;
  require(uv_loop_init(&loop) == 0, "uv_loop_init");
  struct end *ends = calloc(2 * pairs, sizeof *ends);
  for (int i = 0; i < 2 * pairs; i++) {
    uv_poll_cb handler = i % 2 == 0 ? on_echo : on_answer;
    open_end(&loop, &ends[i], descriptors[i], rounds, message_bytes, handler);
  }
  uint64_t start = uv_hrtime();
  for (int i = 1; i < 2 * pairs; i += 2) send_one(&ends[i]);
  uv_run(&loop, UV_RUN_DEFAULT);
  uint64_t time = uv_hrtime() - start;
  run_out(&loop);
  free(ends);
  return time;
}

/// One end of a stream.
struct flow {
  uv_poll_t poll;
  int descriptor;
  int chunk_bytes;
  uint64_t left;
  char *chunk;
};

static void on_flow(uv_poll_t *poll, int status, int events) {
  struct flow *flow = poll->data;
  require(status == 0, "stream");
  size_t asked = flow->left < (uint64_t)flow->chunk_bytes ? flow->left : (size_t)flow->chunk_bytes;
  ssize_t length = events & UV_READABLE ? read(flow->descriptor, flow->chunk, asked)
                                        : write(flow->descriptor, flow->chunk, asked);
  if (length < 0 && errno == EAGAIN) return;
  require(length > 0, "nothing was transferred");
  flow->left -= length;
  if (flow->left == 0) uv_close((uv_handle_t *)poll, NULL);
}

static void open_flow(uv_loop_t *loop, struct flow *flow, int events) {
  require(uv_poll_init(loop, &flow->poll, flow->descriptor) == 0, "uv_poll_init");
  flow->poll.data = flow;
  flow->chunk = malloc(flow->chunk_bytes);
  memset(flow->chunk, 7, flow->chunk_bytes);
  require(uv_poll_start(&flow->poll, events, on_flow) == 0, "uv_poll_start");
}

uint64_t libuv_stream(int writer, int reader, int chunks, int chunk_bytes) {
  uv_loop_t loop;
  require(uv_loop_init(&loop) == 0, "uv_loop_init");
  uint64_t bytes = (uint64_t)chunks * chunk_bytes;
  struct flow out = {.descriptor = writer, .chunk_bytes = chunk_bytes, .left = bytes};
  struct flow in = {.descriptor = reader, .chunk_bytes = chunk_bytes, .left = bytes};
  open_flow(&loop, &in, UV_READABLE);
  open_flow(&loop, &out, UV_WRITABLE);
  uint64_t start = uv_hrtime();
  uv_run(&loop, UV_RUN_DEFAULT);
  uint64_t time = uv_hrtime() - start;
  run_out(&loop);
  free(in.chunk);
  free(out.chunk);
  return time;
}
