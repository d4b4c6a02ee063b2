// Points in time, and the units to count in.
//
// A dispatch_time_t says on which clock it counts: dispatch_time() on one that stands still while
// the machine sleeps and that nobody sets, dispatch_walltime() on the clock on the wall, which is
// set now and then. How is the library's affair: make, compare and change such values with these
// functions alone.
//
// Source: Apple, Dispatch, `dispatch_time(3)`.
#ifndef __DISPATCH_TIME__
#define __DISPATCH_TIME__

#include "base.h"

#include <time.h>

#undef NSEC_PER_SEC
#undef NSEC_PER_MSEC
#undef USEC_PER_SEC
#undef NSEC_PER_USEC
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

// Strict C99 knows no such type; its programs can still pass NULL.
struct timespec;

/// A point in time on one of the clocks, or DISPATCH_TIME_FOREVER.
typedef uint64_t dispatch_time_t;

/// The moment at which it is used, on the clock that nobody sets.
#define DISPATCH_TIME_NOW (0ull)
/// Later than all others. As a timeout: wait without one.
#define DISPATCH_TIME_FOREVER (~0ull)

__extension__ enum {
  /// The moment at which it is used, on the wall's clock: for dispatch_time(), to add to.
  DISPATCH_WALLTIME_NOW = ~1ull,
};

/// A point in time, `delta` after another, on the same clock.
///
/// - Parameters:
///   - when: where to begin. DISPATCH_TIME_NOW and DISPATCH_WALLTIME_NOW are read off their clocks.
///   - delta: nanoseconds to add; negative ones go back.
/// - Returns: the sum. DISPATCH_TIME_FOREVER when that is out of range above or `when` is
///   DISPATCH_TIME_FOREVER; below the range, the earliest point of that clock, which is in the
///   past.
/// - Source: Apple, Dispatch, `dispatch_time`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

/// A point in time on the wall's clock. What waits for it follows when the clock is set.
///
/// - Parameters:
///   - when: seconds and nanoseconds since 1970, as clock_gettime(2) gives with CLOCK_REALTIME, or
///     NULL for now.
///   - delta: nanoseconds to add; negative ones go back.
/// - Returns: the sum; DISPATCH_TIME_FOREVER when that is out of range above, and a point in the
///   past when it is out of range below.
/// - Source: Apple, Dispatch, `dispatch_walltime`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_time_t dispatch_walltime(const struct timespec *_Nullable when, int64_t delta);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
