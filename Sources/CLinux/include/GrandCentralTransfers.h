// System calls that move bytes.
#ifndef GRANDCENTRAL_TRANSFERS_H
#define GRANDCENTRAL_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Transfers.c. Each returns a number of bytes or a negative errno. `offset` -1: the file position.
// A call interrupted by a signal is repeated, except gc_transfer_read_cached().
typedef struct gc_stretch {
  const void *_Nullable start;
  size_t bytes;
} gc_stretch;
enum { GC_STRETCHES = 64 };
int64_t gc_transfer_read(int descriptor, void *_Nonnull buffer, size_t bytes, int64_t offset);
// Reads only what is in memory: preadv2(2) with RWF_NOWAIT. -EAGAIN: the disk is needed.
int64_t gc_transfer_read_cached(
    int descriptor, void *_Nonnull buffer, size_t bytes, int64_t offset);
// Whether reads always go to the disk: O_DIRECT. RWF_NOWAIT does not prevent such reads from
// waiting.
bool gc_reads_past_cache(int descriptor);
// Writes up to GC_STRETCHES stretches without raising SIGPIPE. Sockets use MSG_NOSIGNAL. For all
// else, if it `may_raise`, the signal is blocked on this thread and a raised one is consumed.
int64_t gc_transfer_write(
    int descriptor, const gc_stretch *_Nonnull stretches, int count, int64_t offset, bool is_socket,
    bool may_raise);
// How many bytes of several writes one call may make now, so that a reader and other writers of the
// pipe or socket see no difference, at most PIPE_BUF. 0: none. The reader sees where each ends, as
// of a socket that is no stream or a pipe in packet mode (O_DIRECT); or the pipe is filling up.
size_t gc_most_joined(int descriptor, bool is_socket);
// Sets or clears O_NONBLOCK of an open file. Returns 1 if it was set before, 0 if not, or a
// negative errno.
int gc_set_nonblocking(int descriptor, bool on);
// Whether two descriptors share one open file, and so its flags: kcmp(2). 1, 0 or a negative errno.
int gc_is_same_open_file(int one, int other);
// Returns O_RDONLY, O_WRONLY or O_RDWR, or a negative errno.
int gc_access_mode(int descriptor);
// open(2), repeated when interrupted by a signal. Returns a descriptor or a negative errno.
int gc_open_file(const char *_Nonnull path, int flags, uint32_t mode);

#endif
