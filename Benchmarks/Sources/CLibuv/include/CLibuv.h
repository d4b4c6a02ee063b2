// The jobs of Sources.swift and Timers.swift on a libuv loop. Each call makes a loop of its own,
// runs it on the calling thread, and returns the nanoseconds of the stretch that the other engines
// measure too. A wrong result ends the process.
#ifndef CLIBUV_H
#define CLIBUV_H

#include <stdint.h>

/// Called when the loop is ready to be played with, right before it runs.
typedef void (*libuv_ready)(void *context);

/// Sends each of `count` messages on `descriptor` back to where it came from; `ready` starts the
/// peer.
void libuv_echo(int descriptor, int count, int message_bytes, libuv_ready ready, void *context);

/// `rounds` round trips over each of `pairs` pairs, whose ends alternate in `descriptors`: one end
/// echoes, the other sends on. All are on one loop.
uint64_t libuv_rallies(const int *descriptors, int pairs, int rounds, int message_bytes);

/// `chunks` chunks written at one end when there is room and read at the other when there is data.
/// By descriptor readiness (uv_poll_t) and not by uv_stream_t, so that each event does the same one
/// read or write of the caller's own as a source's handler.
uint64_t libuv_stream(int writer, int reader, int chunks, int chunk_bytes);

/// Arms `count` timers, `timeouts` in milliseconds, and cancels them in `order`. Each timer is
/// allocated, as a source is, and freed when the loop has closed it.
void libuv_arm_and_cancel(
    int count, const uint64_t *timeouts, const int64_t *order, uint64_t *arm, uint64_t *cancel);

/// Gives one live timer another time, `count` times.
uint64_t libuv_rearm(int64_t count, const uint64_t *timeouts, int timeout_count);

/// `count` times of a timer that repeats each millisecond: how late each was, in nanoseconds. Due
/// is a millisecond after the last time, since libuv keeps to no grid.
uint64_t libuv_lateness(int count, double *delays);

#endif
