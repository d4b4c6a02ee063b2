// Room: Time/DispatchTime. Points on the uptime clock, as the 64-bit words that C passes around
// too.
//   0                 now
//   1 … 2^62 - 1      nanoseconds of CLOCK_MONOTONIC
//   all ones          for ever
// The words between are other clocks' (see DispatchWallTime), so this type never holds one of them:
// whatever would reach them is the distant future, and whatever would fall below 1 is 1.

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// The C API's encoding of a point in time, of any clock.
public typealias dispatch_time_t = UInt64

/// A point in time on the clock that stands still while the machine sleeps.
///
/// - Source: `dispatch/time.h` of the public reference; `clock_gettime(2)`, CLOCK_MONOTONIC.
public struct DispatchTime: Comparable, Sendable {
  /// The word that the C API knows this time by.
  public let rawValue: dispatch_time_t

  /// The first word that is no uptime.
  static var limit: dispatch_time_t { 1 << 62 }
  static var forever: dispatch_time_t { .max }

  @inlinable
  init(word: dispatch_time_t) { rawValue = word }

  /// Never: a time-out that does not end, a deadline that does not come.
  @inlinable
  public static var distantFuture: DispatchTime { DispatchTime(word: .max) }

  /// The current time.
  public static func now() -> DispatchTime {
    DispatchTime(uptimeNanoseconds: Clock.monotonicNanoseconds())
  }

  /// The time at which the machine has been up, and awake, for so long.
  ///
  /// - Parameter uptimeNanoseconds: nanoseconds of CLOCK_MONOTONIC. 0 stands for the moment at
  ///   which the value is used; more than 146 years is the distant future.
  public init(uptimeNanoseconds: UInt64) {
    rawValue = uptimeNanoseconds < Self.limit ? uptimeNanoseconds : Self.forever
  }

  /// Nanoseconds of CLOCK_MONOTONIC, or the largest number for the distant future.
  public var uptimeNanoseconds: UInt64 { rawValue }

  /// Whether `a` comes before `b`.
  public static func < (a: DispatchTime, b: DispatchTime) -> Bool { a.rawValue < b.rawValue }

  /// Whether both are the same moment.
  public static func == (a: DispatchTime, b: DispatchTime) -> Bool { a.rawValue == b.rawValue }
}

extension DispatchTime {
  /// The time that is `interval` later; never before the clock's start.
  ///
  /// The distant future stays what it is, and `.never` leads there.
  public func advanced(by interval: DispatchTimeInterval) -> DispatchTime {
    advanced(byNanoseconds: interval.saturatedNanoseconds)
  }

  /// How much later `other` is: negative if it is earlier, `.never` if it is the distant future.
  public func distance(to other: DispatchTime) -> DispatchTimeInterval {
    .distance(
      from: rawValue == Self.forever ? nil : rawValue,
      to: other.rawValue == Self.forever ? nil : other.rawValue)
  }

  /// The time that is so much earlier: what `-` is made of.
  @usableFromInline
  package func retreated(by interval: DispatchTimeInterval) -> DispatchTime {
    advanced(byNanoseconds: interval.negatedNanoseconds)
  }

  /// The time that is `seconds` later: what `+` and `-` with a `Double` are made of. Not a number
  /// leads to the distant future.
  @usableFromInline
  package func advanced(bySeconds seconds: Double) -> DispatchTime {
    advanced(byNanoseconds: DispatchTimeInterval.saturatedNanoseconds(seconds: seconds))
  }

  /// `Int64.max` stands for ever.
  private func advanced(byNanoseconds nanoseconds: Int64) -> DispatchTime {
    if rawValue == Self.forever || nanoseconds == .max { return .distantFuture }
    let start = rawValue == 0 ? Clock.monotonicNanoseconds() : rawValue
    // start < 2^62, so no sum overflows downwards, and upwards it stays below 2^64.
    let sum = Int64(start).addingReportingOverflow(nanoseconds)
    if sum.overflow { return .distantFuture }
    return DispatchTime(uptimeNanoseconds: UInt64(max(1, sum.partialValue)))
  }
}
