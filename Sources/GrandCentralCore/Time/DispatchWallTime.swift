// Room: Time/DispatchWallTime. Points on the wall clock, as the 64-bit words of the C API.
//   11…               nanoseconds since 1970, negated
//   all ones but one  now, in words that C clients make; never in this type
//   all ones          for ever
// Nanoseconds 1 and 2 of 1970 would be those two special words, so 3 is the earliest time.
#if GRANDCENTRAL_DROPIN
  public import CGrandCentralLinux
#endif

/// A point in time on the clock that shows the date and follows changes of it.
///
/// - Source: `dispatch/time.h` of the public reference; `clock_gettime(2)`, CLOCK_REALTIME.
public struct DispatchWallTime: Comparable, Sendable {
  /// The C API's word for this time.
  public let rawValue: dispatch_time_t

  /// The bounds of the encoding: the years 1970 and 2116.
  static var earliestNanoseconds: Int64 { 3 }
  static var latestNanoseconds: Int64 { 1 << 62 }
  static var forever: dispatch_time_t { .max }

  @inlinable
  init(word: dispatch_time_t) { rawValue = word }

  /// Creates a date from nanoseconds since 1970; `Int64.max` stands for "for ever".
  init(nanoseconds: Int64) {
    rawValue =
      nanoseconds > Self.latestNanoseconds
      ? Self.forever : 0 &- UInt64(max(nanoseconds, Self.earliestNanoseconds))
  }

  /// A date that never comes: a wait with it has no timeout.
  ///
  /// - Source: Apple, Dispatch, `DispatchWallTime.distantFuture`.
  @inlinable
  public static var distantFuture: DispatchWallTime { DispatchWallTime(word: .max) }

  /// Returns the current date.
  ///
  /// - Returns: nanoseconds of CLOCK_REALTIME, as a point in time.
  /// - Source: Apple, Dispatch, `DispatchWallTime.now()`.
  public static func now() -> DispatchWallTime {
    DispatchWallTime(nanoseconds: Int64(clamping: Clock.wallNanoseconds()))
  }

  /// Creates the date of a `timespec`.
  ///
  /// - Parameter timespec: seconds and nanoseconds since 1970. An earlier date becomes the
  ///   earliest date of 1970: both have passed. A date after February 2116, more
  ///   than 2^62 nanoseconds, is the distant future.
  /// - Source: Apple, Dispatch, `DispatchWallTime.init(timespec:)`.
  public init(timespec: timespec) {
    let seconds = Int64(timespec.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let sum = seconds.partialValue.addingReportingOverflow(Int64(timespec.tv_nsec))
    let overflows = seconds.overflow || sum.overflow
    self.init(
      nanoseconds: overflows ? (timespec.tv_sec < 0 ? .min : .max) : sum.partialValue)
  }

  /// The nanoseconds since 1970; `nil` for the distant future.
  var nanoseconds: UInt64? { rawValue == Self.forever ? nil : 0 &- rawValue }

  /// Returns whether `a` comes before `b`.
  ///
  /// - Parameters:
  ///   - a: the first date.
  ///   - b: the second date.
  /// - Returns: true if `a` is earlier; the distant future comes after all others.
  /// - Source: Apple, Dispatch, `DispatchWallTime`.
  public static func < (a: DispatchWallTime, b: DispatchWallTime) -> Bool {
    (a.nanoseconds ?? .max) < (b.nanoseconds ?? .max)
  }

  /// Returns whether both are the same moment.
  ///
  /// - Parameters:
  ///   - a: the first date.
  ///   - b: the second date.
  /// - Returns: true if both have the same word.
  /// - Source: Apple, Dispatch, `DispatchWallTime`.
  public static func == (a: DispatchWallTime, b: DispatchWallTime) -> Bool {
    a.rawValue == b.rawValue
  }
}

extension DispatchWallTime {
  /// Returns the date that is `interval` later.
  ///
  /// - Parameter interval: the distance; negative for an earlier date.
  /// - Returns: the sum, never before 1970. The distant future stays as it is, and `.never` leads
  ///   there.
  /// - Source: Apple, Dispatch, `DispatchWallTime`.
  public func advanced(by interval: DispatchTimeInterval) -> DispatchWallTime {
    advanced(byNanoseconds: interval.saturatedNanoseconds)
  }

  /// Returns how much later `other` is.
  ///
  /// - Parameter other: the other date.
  /// - Returns: the distance, negative if `other` is earlier, `.never` if it is the distant future.
  /// - Source: Apple, Dispatch, `DispatchWallTime`.
  public func distance(to other: DispatchWallTime) -> DispatchTimeInterval {
    .distance(from: nanoseconds, to: other.nanoseconds)
  }

  /// Returns the date that is `interval` earlier: implements `-`.
  @usableFromInline
  package func retreated(by interval: DispatchTimeInterval) -> DispatchWallTime {
    advanced(byNanoseconds: interval.negatedNanoseconds)
  }

  /// Returns the date that is `seconds` later: implements `+` and `-` with a `Double`. NaN leads to
  /// the distant future.
  @usableFromInline
  package func advanced(bySeconds seconds: Double) -> DispatchWallTime {
    advanced(byNanoseconds: DispatchTimeInterval.saturatedNanoseconds(seconds: seconds))
  }

  /// `Int64.max` stands for "for ever".
  private func advanced(byNanoseconds delta: Int64) -> DispatchWallTime {
    guard let nanoseconds, delta != .max else { return .distantFuture }
    // At most 2^62 and never negative, so only a positive sum can overflow.
    let sum = Int64(nanoseconds).addingReportingOverflow(delta)
    return sum.overflow ? .distantFuture : DispatchWallTime(nanoseconds: sum.partialValue)
  }
}
