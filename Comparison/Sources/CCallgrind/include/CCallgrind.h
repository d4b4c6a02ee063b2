// What a Swift program cannot say itself: callgrind's requests, which are instructions that do
// nothing elsewhere, and fork(2), which Swift refuses.
#ifndef CCALLGRIND_H
#define CCALLGRIND_H

#include <sys/types.h>

// Writes the instructions since the last dump under a name, and starts anew. Does nothing outside
// of callgrind. False: built without valgrind's headers.
_Bool callgrind_dump(const char *_Nonnull name);

// fork(2), for a process that has one thread.
pid_t callgrind_fork(void);

#endif
