// Room: Time/DispatchWallTime. Points on the wall clock, as the words that the C API passes around.
//   11…               nanoseconds since 1970, negated
//   all ones but one  now, in words that C clients make; never in this type
//   all ones          for ever
// Nanoseconds 1 and 2 of 1970 would be those two special words, so 3 is the earliest there is.
public import CLinux

/// A point in time on the clock that shows the date, and follows when it is set.
///
/// - Source: `dispatch/time.h` of the public reference; `clock_gettime(2)`, CLOCK_REALTIME.
public struct DispatchWallTime: Comparable, Sendable {
  /// The word that the C API knows this time by.
  public let rawValue: dispatch_time_t

  /// Bounds of what the encoding holds: 1970 and 2116.
  static var earliestNanoseconds: Int64 { 3 }
  static var latestNanoseconds: Int64 { 1 << 62 }
  static var forever: dispatch_time_t { .max }

  @inlinable
  init(word: dispatch_time_t) { rawValue = word }

  /// Takes nanoseconds since 1970, `Int64.max` standing for ever.
  init(nanoseconds: Int64) {
    rawValue =
      nanoseconds > Self.latestNanoseconds
      ? Self.forever : 0 &- UInt64(max(nanoseconds, Self.earliestNanoseconds))
  }

  /// Never: a time-out that does not end, a deadline that does not come.
  @inlinable
  public static var distantFuture: DispatchWallTime { DispatchWallTime(word: .max) }

  /// The current date.
  public static func now() -> DispatchWallTime {
    DispatchWallTime(nanoseconds: Int64(clamping: Clock.wallNanoseconds()))
  }

  /// The date that `timespec` tells.
  ///
  /// - Parameter timespec: seconds and nanoseconds since 1970. A date before that is taken as one
  ///   just after it: it has passed anyway. A date after the year 2115 is the distant future.
  public init(timespec: timespec) {
    let seconds = Int64(timespec.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let sum = seconds.partialValue.addingReportingOverflow(Int64(timespec.tv_nsec))
    let overflows = seconds.overflow || sum.overflow
    self.init(
      nanoseconds: overflows ? (timespec.tv_sec < 0 ? .min : .max) : sum.partialValue)
  }

  /// Nanoseconds since 1970, or `nil` for ever.
  var nanoseconds: UInt64? { rawValue == Self.forever ? nil : 0 &- rawValue }

  /// Whether `a` comes before `b`.
  public static func < (a: DispatchWallTime, b: DispatchWallTime) -> Bool {
    (a.nanoseconds ?? .max) < (b.nanoseconds ?? .max)
  }

  /// Whether both are the same moment.
  public static func == (a: DispatchWallTime, b: DispatchWallTime) -> Bool {
    a.rawValue == b.rawValue
  }
}

extension DispatchWallTime {
  /// The date that is `interval` later; never before 1970.
  ///
  /// The distant future stays what it is, and `.never` leads there.
  public func advanced(by interval: DispatchTimeInterval) -> DispatchWallTime {
    advanced(byNanoseconds: interval.saturatedNanoseconds)
  }

  /// How much later `other` is: negative if it is earlier, `.never` if it is the distant future.
  public func distance(to other: DispatchWallTime) -> DispatchTimeInterval {
    .distance(from: nanoseconds, to: other.nanoseconds)
  }

  /// The date that is so much earlier: what `-` is made of.
  @usableFromInline
  package func retreated(by interval: DispatchTimeInterval) -> DispatchWallTime {
    advanced(byNanoseconds: interval.negatedNanoseconds)
  }

  /// The date that is `seconds` later: what `+` and `-` with a `Double` are made of. Not a number
  /// leads to the distant future.
  @usableFromInline
  package func advanced(bySeconds seconds: Double) -> DispatchWallTime {
    advanced(byNanoseconds: DispatchTimeInterval.saturatedNanoseconds(seconds: seconds))
  }

  /// `Int64.max` stands for ever.
  private func advanced(byNanoseconds delta: Int64) -> DispatchWallTime {
    guard let nanoseconds, delta != .max else { return .distantFuture }
    // At most 2^62 and never negative, so only a sum upwards can overflow.
    let sum = Int64(nanoseconds).addingReportingOverflow(delta)
    return sum.overflow ? .distantFuture : DispatchWallTime(nanoseconds: sum.partialValue)
  }
}
