// The workloads of Sources.swift and Timers.swift on a libuv loop. Each call creates a loop, runs
// it on the calling thread, and returns the nanoseconds of the interval that the other engines
// measure too. A wrong result ends the process.
#ifndef CLIBUV_H
#define CLIBUV_H

#include <stdint.h>

/// Called when the loop is set up, just before it runs.
typedef void (*libuv_ready)(void *context);

/// Echoes each of `count` messages on `descriptor`. `ready` starts the peer.
void libuv_echo(int descriptor, int count, int message_bytes, libuv_ready ready, void *context);

/// Makes `rounds` round trips over each of `pairs` pairs on one loop. The ends of a pair alternate
/// in `descriptors`: one end echoes, the other forwards.
uint64_t libuv_rallies(const int *descriptors, int pairs, int rounds, int message_bytes);

/// Writes `chunks` chunks at one end and reads them at the other. Uses descriptor readiness
/// (uv_poll_t) instead of uv_stream_t, so that each event makes one read or write of the caller, as
/// a source's handler does.
uint64_t libuv_stream(int writer, int reader, int chunks, int chunk_bytes);

/// Arms `count` timers with `timeouts` in milliseconds, and cancels them in `order`. Each timer is
/// allocated, as a source is, and freed when the loop has closed it.
void libuv_arm_and_cancel(
    int count, const uint64_t *timeouts, const int64_t *order, uint64_t *arm, uint64_t *cancel);

/// Reschedules one live timer `count` times.
uint64_t libuv_rearm(int64_t count, const uint64_t *timeouts, int timeout_count);

/// Measures the lateness of `count` firings of a timer that repeats each millisecond, in
/// nanoseconds. Each is due a millisecond after the previous one, because libuv keeps no grid.
uint64_t libuv_lateness(int count, double *delays);

#endif
