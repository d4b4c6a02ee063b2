// SPDX-License-Identifier: Apache-2.0
// Grand Central Dispatch for C and C++: the one header to include.
//
//   #include <dispatch/dispatch.h>
//
// C99 to C23 and C++11 to C++20, with any compiler that supports GNU attributes. Link with
// -ldispatch. Functions that take blocks are declared where blocks are enabled (clang -fblocks,
// with -lBlocksRuntime). Each has a variant for all compilers whose name ends in _f; it takes a
// function and a context.
//
// These rules hold for every function and are not repeated:
// - Any thread may call it at any time. A signal handler must not call it.
// - It does not set errno. A function that can fail reports that in its result, or passes an errno
//   to a handler.
// - An error of the caller prints "BUG IN CLIENT OF GRAND CENTRAL: …" with the fix on standard
//   error and stops the process. Paragraphs that begin with "Stops" list these errors.
// - Passing NULL where the declaration says nonnull is such an error, but is not always detected.
// - Times are in nanoseconds, sizes in bytes.
//
// The include guards have the names that programs test for.
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

/// The date of the interface that these headers declare, as a number: YYYYMMDD.
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
