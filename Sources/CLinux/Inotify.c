// Watches of files: inotify(7).
#define _GNU_SOURCE
#include "GrandCentralInotify.h"

#include <errno.h>
#include <sys/inotify.h>

#include "Descriptors.h"

int gc_inotify_make(void) { return above_standard(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)); }

int gc_inotify_watch(int instance, const char *path, uint32_t mask) {
  int number = inotify_add_watch(instance, path, mask);
  return number < 0 ? -errno : number;
}

int gc_inotify_unwatch(int instance, int number) {
  return inotify_rm_watch(instance, number) == 0 ? 0 : errno;
}
