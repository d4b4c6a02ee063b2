// System calls that read and write for DispatchIO.
#define _GNU_SOURCE
#include "GrandCentralTransfers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(gc_stretch) == sizeof(struct iovec), "a stretch is an iovec");
_Static_assert(
    offsetof(gc_stretch, bytes) == offsetof(struct iovec, iov_len), "a stretch is an iovec");

int64_t gc_transfer_read(int descriptor, void *buffer, size_t bytes, int64_t offset) {
  while (1) {
    ssize_t count = offset == -1 ? read(descriptor, buffer, bytes)
                                 : pread(descriptor, buffer, bytes, offset);
    if (count >= 0) return count;
    if (errno != EINTR) return -errno;
  }
}

int64_t gc_transfer_read_cached(int descriptor, void *buffer, size_t bytes, int64_t offset) {
#ifdef RWF_NOWAIT
  struct iovec stretch = {.iov_base = buffer, .iov_len = bytes};
  ssize_t count = preadv2(descriptor, &stretch, 1, offset, RWF_NOWAIT);
  return count < 0 ? -errno : count;
#else
  (void)descriptor, (void)buffer, (void)bytes, (void)offset;
  return -EOPNOTSUPP;
#endif
}

bool gc_reads_past_cache(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 || (flags & O_DIRECT);
}

static size_t total(const gc_stretch *stretches, int count) {
  size_t bytes = 0;
  for (int n = 0; n < count; n++) bytes += stretches[n].bytes;
  return bytes;
}

static int64_t write_once(
    int descriptor, const gc_stretch *stretches, int count, int64_t offset, bool is_socket) {
  const struct iovec *vector = (const struct iovec *)stretches;
  while (1) {
    ssize_t written;
    if (is_socket) {
      struct msghdr message = {.msg_iov = (struct iovec *)vector, .msg_iovlen = (size_t)count};
      written = sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } else {
      written = offset == -1 ? writev(descriptor, vector, count)
                             : pwritev(descriptor, vector, count, offset);
    }
    if (written >= 0) return written;
    if (errno != EINTR) return -errno;
  }
}

int64_t gc_transfer_write(
    int descriptor, const gc_stretch *stretches, int count, int64_t offset, bool is_socket,
    bool may_raise) {
  if (is_socket || !may_raise) {
    return write_once(descriptor, stretches, count, offset, is_socket);
  }
  // The SIGPIPE of a write goes to the writing thread (signal(7)), so it can be pending only here.
  // One that was pending before has another cause and stays.
  sigset_t pipe_signal, pending, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  int64_t written = write_once(descriptor, stretches, count, offset, false);
  // A write that waited may have moved some bytes before the last reader went.
  bool may_be_raised =
    written == -EPIPE || (written > 0 && (size_t)written < total(stretches, count));
  if (may_be_raised && !was_pending) {
    struct timespec now = {0};
    while (sigtimedwait(&pipe_signal, NULL, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return written;
}

static int socket_option(int descriptor, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

static size_t most_joined_in_socket(int descriptor) {
  // Others of type stream may keep messages apart, such as SCTP.
  if (socket_option(descriptor, SO_TYPE) != SOCK_STREAM) return 0;
  if (socket_option(descriptor, SO_DOMAIN) != AF_UNIX
      && socket_option(descriptor, SO_PROTOCOL) != IPPROTO_TCP) return 0;
  // A local socket cuts what is longer than half of its buffer, less a few bytes.
  int room = socket_option(descriptor, SO_SNDBUF) / 2 - 128;
  return room < 0 ? 0 : room < PIPE_BUF ? (size_t)room : PIPE_BUF;
}

static size_t most_joined_in_pipe(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL), unread = 0;
  if (flags < 0 || (flags & O_DIRECT)) return 0;
  // Each call may begin a new page and leave the rest of the last one empty. Where a reader is
  // behind, the pipe must have room for as much as without joining.
  int size = fcntl(descriptor, F_GETPIPE_SZ);
  if (size < 0 || ioctl(descriptor, FIONREAD, &unread) != 0) return 0;
  return unread > size / 8 ? 0 : PIPE_BUF;
}

size_t gc_most_joined(int descriptor, bool is_socket) {
  return is_socket ? most_joined_in_socket(descriptor) : most_joined_in_pipe(descriptor);
}

int gc_set_nonblocking(int descriptor, bool on) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return -errno;
  bool was_on = flags & O_NONBLOCK;
  if (was_on != on) {
    int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (fcntl(descriptor, F_SETFL, wanted) < 0) return -errno;
  }
  return was_on;
}

int gc_access_mode(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 ? -errno : flags & O_ACCMODE;
}

int gc_is_same_open_file(int one, int other) {
#ifdef SYS_kcmp
  pid_t process = getpid();
  long order = syscall(SYS_kcmp, process, process, 0 /* KCMP_FILE */, (unsigned long)one,
                       (unsigned long)other);
  return order < 0 ? -errno : order == 0;
#else
  (void)one, (void)other;
  return -ENOSYS;
#endif
}

int gc_open_file(const char *path, int flags, uint32_t mode) {
  while (1) {
    int descriptor = open(path, flags, (mode_t)mode);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) return -errno;
  }
}
