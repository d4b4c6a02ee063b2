// Watches of files: inotify(7).
#ifndef GRANDCENTRAL_INOTIFY_H
#define GRANDCENTRAL_INOTIFY_H

#include <stdint.h>

// Makes a close-on-exec, non-blocking inotify(7) instance. Returns -1 with errno set on failure.
int gc_inotify_make(void);
// inotify_add_watch(2) returns the number of a watch or a negative errno; inotify_rm_watch(2)
// returns 0 or an errno.
int gc_inotify_watch(int instance, const char *_Nonnull path, uint32_t mask);
int gc_inotify_unwatch(int instance, int number);

#endif
