// Room: Time/DispatchTime. Points on the uptime clock, as the 64-bit words of the C API.
//   0                 now
//   1 … 2^62 - 1      nanoseconds of CLOCK_MONOTONIC
//   all ones          for ever
// The words between belong to other clocks (see DispatchWallTime), and this type never holds them:
// a result of 2^62 or more is the distant future, and a result below 1 is 1.

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// A point in time of any clock, as the C API encodes it.
///
/// - Source: `dispatch/time.h` of the public reference.
public typealias dispatch_time_t = UInt64

/// A point in time on the clock that stands still while the machine sleeps.
///
/// - Source: `dispatch/time.h` of the public reference; `clock_gettime(2)`, CLOCK_MONOTONIC.
public struct DispatchTime: Comparable, Sendable {
  /// The C API's word for this time.
  public let rawValue: dispatch_time_t

  /// The first word that is not an uptime.
  static var limit: dispatch_time_t { 1 << 62 }
  static var forever: dispatch_time_t { .max }

  @inlinable
  init(word: dispatch_time_t) { rawValue = word }

  /// A time that never comes: a wait with it has no timeout.
  ///
  /// - Source: Apple, Dispatch, `DispatchTime.distantFuture`.
  @inlinable
  public static var distantFuture: DispatchTime { DispatchTime(word: .max) }

  /// Returns the current time.
  ///
  /// - Returns: nanoseconds of CLOCK_MONOTONIC, as a point in time.
  /// - Source: Apple, Dispatch, `DispatchTime.now()`.
  public static func now() -> DispatchTime {
    DispatchTime(uptimeNanoseconds: Clock.monotonicNanoseconds())
  }

  /// Creates the time at which the machine has been awake for so many nanoseconds.
  ///
  /// - Parameter uptimeNanoseconds: nanoseconds of CLOCK_MONOTONIC. 0 stands for the moment at
  ///   which the value is used; more than 146 years is the distant future.
  /// - Source: Apple, Dispatch, `DispatchTime.init(uptimeNanoseconds:)`.
  public init(uptimeNanoseconds: UInt64) {
    rawValue = uptimeNanoseconds < Self.limit ? uptimeNanoseconds : Self.forever
  }

  /// The nanoseconds of CLOCK_MONOTONIC; the largest number for the distant future.
  public var uptimeNanoseconds: UInt64 { rawValue }

  /// Returns whether `a` comes before `b`.
  ///
  /// - Parameters:
  ///   - a: the first time.
  ///   - b: the second time.
  /// - Returns: true if `a` is earlier; the distant future comes after all others.
  /// - Source: Apple, Dispatch, `DispatchTime`.
  public static func < (a: DispatchTime, b: DispatchTime) -> Bool { a.rawValue < b.rawValue }

  /// Returns whether both are the same moment.
  ///
  /// - Parameters:
  ///   - a: the first time.
  ///   - b: the second time.
  /// - Returns: true if both have the same word.
  /// - Source: Apple, Dispatch, `DispatchTime`.
  public static func == (a: DispatchTime, b: DispatchTime) -> Bool { a.rawValue == b.rawValue }
}

extension DispatchTime {
  /// Returns the time that is `interval` later.
  ///
  /// - Parameter interval: the distance; negative for an earlier time.
  /// - Returns: the sum, never before the clock's start. The distant future stays as it is, and
  ///   `.never` leads there.
  /// - Source: Apple, Dispatch, `DispatchTime.advanced(by:)`.
  public func advanced(by interval: DispatchTimeInterval) -> DispatchTime {
    advanced(byNanoseconds: interval.saturatedNanoseconds)
  }

  /// Returns how much later `other` is.
  ///
  /// - Parameter other: the other time.
  /// - Returns: the distance, negative if `other` is earlier, `.never` if it is the distant future.
  /// - Source: Apple, Dispatch, `DispatchTime.distance(to:)`.
  public func distance(to other: DispatchTime) -> DispatchTimeInterval {
    .distance(
      from: rawValue == Self.forever ? nil : rawValue,
      to: other.rawValue == Self.forever ? nil : other.rawValue)
  }

  /// Returns the time that is `interval` earlier: implements `-`.
  @usableFromInline
  package func retreated(by interval: DispatchTimeInterval) -> DispatchTime {
    advanced(byNanoseconds: interval.negatedNanoseconds)
  }

  /// Returns the time that is `seconds` later: implements `+` and `-` with a `Double`. NaN leads to
  /// the distant future.
  @usableFromInline
  package func advanced(bySeconds seconds: Double) -> DispatchTime {
    advanced(byNanoseconds: DispatchTimeInterval.saturatedNanoseconds(seconds: seconds))
  }

  /// `Int64.max` stands for "for ever".
  private func advanced(byNanoseconds nanoseconds: Int64) -> DispatchTime {
    if rawValue == Self.forever || nanoseconds == .max { return .distantFuture }
    let start = rawValue == 0 ? Clock.monotonicNanoseconds() : rawValue
    // start is below 2^62: no sum underflows, and a sum that overflows is beyond every uptime.
    let sum = Int64(start).addingReportingOverflow(nanoseconds)
    if sum.overflow { return .distantFuture }
    return DispatchTime(uptimeNanoseconds: UInt64(max(1, sum.partialValue)))
  }
}
