// dispatch/time.h: points in time as C's words, of three clocks: see TimeLimit in the engine.
public import CGrandCentralLinux

/// The encoding of a point in time in a word.
enum TimeWord {
  static let forever = UInt64.max
  static let wallNow = UInt64.max - 1
  /// Marks a word of CLOCK_BOOTTIME, whose low bits are nanoseconds; 0 is now.
  static let bootBit: UInt64 = 1 << 63
  static let lowBits: UInt64 = 1 << 62 - 1

  /// Returns the word that is `nanoseconds` later, or earlier if negative.
  static func advanced(_ word: UInt64, by nanoseconds: Int64) -> UInt64 {
    if word == forever { return forever }
    switch word >> 62 {
    case 0b11:
      let start = word == wallNow ? Clock.wallNanoseconds() : 0 &- word
      return wall(start, plus: nanoseconds)
    case 0b10:
      let start = word & lowBits
      return sum(start == 0 ? Clock.bootNanoseconds() : start, nanoseconds).map { $0 | bootBit }
        ?? forever
    default:
      let start = word & lowBits
      return sum(start == 0 ? Clock.monotonicNanoseconds() : start, nanoseconds) ?? forever
    }
  }

  /// Encodes a date: negated, and never equal to a special word.
  static func wall(_ start: UInt64, plus nanoseconds: Int64) -> UInt64 {
    guard let date = sum(start, nanoseconds) else { return forever }
    return 0 &- max(date, 3)
  }

  /// `nil` if the sum is later than any word.
  private static func sum(_ start: UInt64, _ nanoseconds: Int64) -> UInt64? {
    guard let start = Int64(exactly: start) else { return nil }
    let (sum, overflows) = start.addingReportingOverflow(nanoseconds)
    if overflows || sum > Int64(lowBits) { return nil }
    return UInt64(max(sum, 1))
  }
}

/// Returns the time that is `delta` nanoseconds after another; 0 is now.
@c(dispatch_time)
public func dispatchTime(_ when: UInt64, _ delta: Int64) -> UInt64 {
  // The common case: a time of the monotonic clock, to a later or earlier one. Neither is 0. Both
  // comparisons are unsigned, so a sum below 1 is too large.
  if when &- 1 < TimeWord.lowBits {
    let sum = when &+ UInt64(bitPattern: delta)
    if sum &- 1 < TimeWord.lowBits { return sum }
  }
  return advancedSlowly(when, delta)
}

@inline(never)
private func advancedSlowly(_ when: UInt64, _ delta: Int64) -> UInt64 {
  TimeWord.advanced(when, by: delta)
}

/// Returns the time that is `delta` nanoseconds after a date; NULL is now.
@c(dispatch_walltime)
public func dispatchWallTime(_ when: UnsafePointer<timespec>?, _ delta: Int64) -> UInt64 {
  guard let when = when?.pointee else { return wallTimeFromNow(delta) }
  let seconds = UInt64(bitPattern: Int64(when.tv_sec))
  let nanoseconds = UInt64(bitPattern: Int64(when.tv_nsec))
  // The common case: a date between 1970 and 2106, whose nanoseconds fit in 62 bits. With any delta
  // the sum fits in 64 bits, and a negative one is too large.
  if (seconds | nanoseconds) >> 32 == 0 {
    let date = seconds &* 1_000_000_000 &+ nanoseconds &+ UInt64(bitPattern: delta)
    if date &- 3 <= TimeWord.lowBits - 3 { return 0 &- date }
  }
  return wallTime(of: when, delta)
}

@inline(never)
private func wallTime(of when: timespec, _ delta: Int64) -> UInt64 {
  let (seconds, overflows) = Int64(when.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
  let (date, overflowsToo) = seconds.addingReportingOverflow(Int64(when.tv_nsec))
  if overflows || overflowsToo { return when.tv_sec < 0 ? TimeWord.wall(3, plus: 0) : .max }
  if date >= 0 { return TimeWord.wall(UInt64(date), plus: delta) }
  // Before 1970, but perhaps not with the delta.
  let (sum, isTooEarly) = date.addingReportingOverflow(delta)
  return TimeWord.wall(isTooEarly ? 0 : UInt64(max(0, sum)), plus: 0)
}

/// Separate, because reading a clock needs a stack frame with a guard that the compiler checks.
@inline(never)
private func wallTimeFromNow(_ delta: Int64) -> UInt64 {
  TimeWord.advanced(TimeWord.wallNow, by: delta)
}
