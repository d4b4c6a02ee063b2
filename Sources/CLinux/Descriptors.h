// Keeps the descriptors by which the engine waits off 0, 1 and 2. A program that has closed these
// opens its own there later, often by dup2(2), which would close one of the engine's. What the
// program prints before goes to the descriptor that has the number. Files that the engine opens, of
// which it keeps those of mounts and of memory pressure, may have these numbers.
#ifndef GRANDCENTRAL_DESCRIPTORS_H
#define GRANDCENTRAL_DESCRIPTORS_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

// Moves a new descriptor, close-on-exec, to a higher number if it has one of these. Returns its
// number, or -1 with errno set, also if `descriptor` is negative.
static inline int above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

#endif
