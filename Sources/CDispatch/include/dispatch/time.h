// SPDX-License-Identifier: Apache-2.0
// Points in time, and units of time.
//
// A dispatch_time_t names its clock. dispatch_time() uses a monotonic clock, which stops while the
// machine sleeps. dispatch_walltime() uses the wall clock, which can be set. The encoding is
// private: create and change values with these functions only.
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
/// Units of time, as numbers of smaller units.
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull

DISPATCH_ASSUME_NONNULL_BEGIN
__BEGIN_DECLS

// Strict C99 does not declare this type; its programs can still pass NULL.
struct timespec;

/// A point in time on one of the clocks, or DISPATCH_TIME_FOREVER.
typedef uint64_t dispatch_time_t;

/// The time at which the value is used, on the monotonic clock.
#define DISPATCH_TIME_NOW (0ull)
/// Later than all other times. As a timeout: wait without limit.
#define DISPATCH_TIME_FOREVER (~0ull)

__extension__ enum {
  /// The time at which the value is used, on the wall clock. Pass it to dispatch_time().
  DISPATCH_WALLTIME_NOW = ~1ull,
};

/// Returns the point in time that is `delta` after another, on the same clock.
///
/// - Parameters:
///   - when: the start. DISPATCH_TIME_NOW and DISPATCH_WALLTIME_NOW read their clock.
///   - delta: nanoseconds to add, or to subtract if negative.
/// - Returns: the sum. DISPATCH_TIME_FOREVER if the sum is too large or `when` is
///   DISPATCH_TIME_FOREVER. If the sum is too small, the earliest point of that clock, which is in
///   the past.
/// - Source: Apple, Dispatch, `dispatch_time`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

/// Returns a point in time on the wall clock. Waits for it follow changes of the clock.
///
/// - Parameters:
///   - when: seconds and nanoseconds since 1970, as clock_gettime(2) reports for CLOCK_REALTIME;
///     NULL for now.
///   - delta: nanoseconds to add, or to subtract if negative.
/// - Returns: the sum. DISPATCH_TIME_FOREVER if it is too large, a point in the past if it is too
///   small.
/// - Source: Apple, Dispatch, `dispatch_walltime`.
DISPATCH_EXPORT DISPATCH_WARN_RESULT DISPATCH_NOTHROW
dispatch_time_t dispatch_walltime(const struct timespec *_Nullable when, int64_t delta);

__END_DECLS
DISPATCH_ASSUME_NONNULL_END

#endif
