// Points in time: their clock, their order, saturation. The encodings are part of the contract,
// because clients build such words themselves: uptime unchanged, wall-clock time negated.
#include "../Check.h"

#include <time.h>

CASE(time_now_counts_on_the_monotonic_clock) {
  int64_t before = monotonic_now();
  dispatch_time_t now = dispatch_time(DISPATCH_TIME_NOW, 0);
  int64_t after = monotonic_now();
  CHECK((int64_t)now >= before && (int64_t)now <= after);
}

CASE(time_adds_nanoseconds) {
  dispatch_time_t start = dispatch_time(DISPATCH_TIME_NOW, 0);
  CHECK_EQUAL(dispatch_time(start, 1500), start + 1500);
  CHECK_EQUAL(dispatch_time(start, -1500), start - 1500);
  CHECK_EQUAL(dispatch_time(start, 0), start);
}

CASE(time_forever_stays_forever) {
  CHECK_EQUAL(dispatch_time(DISPATCH_TIME_FOREVER, 0), DISPATCH_TIME_FOREVER);
  CHECK_EQUAL(dispatch_time(DISPATCH_TIME_FOREVER, 5), DISPATCH_TIME_FOREVER);
  CHECK_EQUAL(dispatch_time(DISPATCH_TIME_FOREVER, -5), DISPATCH_TIME_FOREVER);
}

CASE(time_saturates_above_to_forever) {
  CHECK_EQUAL(dispatch_time(DISPATCH_TIME_NOW, INT64_MAX), DISPATCH_TIME_FOREVER);
  dispatch_time_t late = dispatch_time(DISPATCH_TIME_NOW, (int64_t)1 << 60);
  CHECK(late != DISPATCH_TIME_FOREVER);
  CHECK_EQUAL(dispatch_time(late, INT64_MAX), DISPATCH_TIME_FOREVER);
}

CASE(time_below_the_range_is_in_the_past) {
  dispatch_time_t start = dispatch_time(DISPATCH_TIME_NOW, 0);
  dispatch_time_t early = dispatch_time(start, INT64_MIN);
  CHECK(early <= start);
  CHECK(early != DISPATCH_TIME_NOW);  // DISPATCH_TIME_NOW would mean the moment of use
}

CASE(walltime_now_counts_on_the_realtime_clock) {
  int64_t before = realtime_now();
  dispatch_time_t now = dispatch_walltime(NULL, 0);
  int64_t after = realtime_now();
  CHECK(-(int64_t)now >= before && -(int64_t)now <= after);
}

CASE(walltime_takes_a_timespec) {
  struct timespec when = {1700000000, 123456789};
  CHECK_EQUAL(dispatch_walltime(&when, 0), -1700000000123456789LL);
  CHECK_EQUAL(dispatch_walltime(&when, 11), -1700000000123456800LL);
  CHECK_EQUAL(dispatch_walltime(&when, -789), -1700000000123456000LL);
}

CASE(walltime_adds_on_its_own_clock) {
  struct timespec when = {1700000000, 0};
  dispatch_time_t start = dispatch_walltime(&when, 0);
  CHECK_EQUAL(dispatch_time(start, 7), dispatch_walltime(&when, 7));
  CHECK_EQUAL(dispatch_time(start, -7), dispatch_walltime(&when, -7));
}

CASE(walltime_now_can_be_added_to) {
  int64_t before = realtime_now();
  dispatch_time_t later = dispatch_time(DISPATCH_WALLTIME_NOW, (int64_t)NSEC_PER_SEC);
  int64_t after = realtime_now();
  CHECK(-(int64_t)later >= before + (int64_t)NSEC_PER_SEC);
  CHECK(-(int64_t)later <= after + (int64_t)NSEC_PER_SEC);
}

CASE(walltime_saturates_above_to_forever) {
  struct timespec when = {4000000000, 0};
  CHECK_EQUAL(dispatch_walltime(&when, INT64_MAX), DISPATCH_TIME_FOREVER);
}

CASE(walltime_below_the_range_is_in_the_past) {
  struct timespec when = {1000, 0};
  dispatch_time_t early = dispatch_walltime(&when, INT64_MIN);
  CHECK(early != DISPATCH_TIME_FOREVER && early != DISPATCH_TIME_NOW);
  CHECK(-(int64_t)early <= 1000 * (int64_t)NSEC_PER_SEC);
}

CASE(units_are_what_they_say) {
  CHECK_EQUAL(NSEC_PER_SEC, 1000 * NSEC_PER_MSEC);
  CHECK_EQUAL(NSEC_PER_MSEC, 1000 * NSEC_PER_USEC);
  CHECK_EQUAL(USEC_PER_SEC * NSEC_PER_USEC, NSEC_PER_SEC);
}
