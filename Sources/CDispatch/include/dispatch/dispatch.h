// Grand Central Dispatch for C and C++: the one header to include.
//
//   #include <dispatch/dispatch.h>
//
// C99 to C23 and C++11 to C++20, with any compiler that has GNU attributes. Functions that take
// blocks are declared where blocks are on (clang -fblocks, with -lBlocksRuntime); each has a twin
// whose name ends in _f and which takes a function and its context, for all compilers. Link with
// -ldispatch.
//
// What the documentation of each function leaves out, because it holds for all of them:
// - Any thread may call it, at any time; none may be called in a signal handler.
// - It sets no errno. What can fail says so in its result or calls a handler with an errno.
// - A mistake of the caller prints "BUG IN CLIENT OF GRAND CENTRAL: …" on standard error, with the
//   fix, and stops the process; the paragraphs that begin with "Stops" name these mistakes.
// - NULL where the declaration says nonnull is such a mistake, though not one that is always
//   noticed.
// - Times are in nanoseconds, sizes in bytes.
//
// The guard, like those of the other parts, has the name that programs look for.
#ifndef __DISPATCH_PUBLIC__
#define __DISPATCH_PUBLIC__

#include "../os/object.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/// The date of the interface that these headers declare, as a number: year, month, day.
#define DISPATCH_API_VERSION 20180109

#include "base.h"
#include "time.h"
#include "object.h"
#include "queue.h"
#include "queue_attribute.h"
#include "queue_work.h"
#include "queue_specific.h"
#include "workloop.h"
#include "block.h"
#include "source.h"
#include "group.h"
#include "semaphore.h"
#include "once.h"
#include "data.h"
#include "io.h"
#include "generic.h"

#endif
