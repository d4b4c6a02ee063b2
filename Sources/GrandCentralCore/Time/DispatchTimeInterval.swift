// Room: Time/DispatchTimeInterval. Lengths of time.
// Sums saturate and never trap: as nanoseconds an interval is clamped to Int64, whose largest value
// stands for "for ever".

/// A length of time, which may be negative.
///
/// - Source: `DispatchTimeInterval` of the public reference.
public enum DispatchTimeInterval: Equatable, Sendable {
  /// A number of seconds.
  case seconds(Int)
  /// A number of milliseconds.
  case milliseconds(Int)
  /// A number of microseconds.
  case microseconds(Int)
  /// A number of nanoseconds.
  case nanoseconds(Int)
  /// Longer than any other interval.
  case never

  /// Returns whether both are equally long, in whatever units.
  ///
  /// - Parameters:
  ///   - lhs: the first interval.
  ///   - rhs: the second interval.
  /// - Returns: true if both are the same number of nanoseconds. Lengths of one sign that
  ///   exceed 292 years are all equal, but none equals `.never`.
  /// - Source: Apple, Dispatch, `DispatchTimeInterval`.
  public static func == (lhs: DispatchTimeInterval, rhs: DispatchTimeInterval) -> Bool {
    switch (lhs, rhs) {
    case (.never, .never): true
    case (.never, _), (_, .never): false
    default: lhs.saturatedNanoseconds == rhs.saturatedNanoseconds
    }
  }
}

extension DispatchTimeInterval {
  /// Creates the interval that is as long as `duration`, rounded up to the nanosecond.
  ///
  /// A wait for it never ends early.
  ///
  /// - Parameter duration: a length of time. Beyond 292 years it is rounded up to the second;
  ///   beyond the range of an `Int` of seconds it is clamped.
  /// - Source: Swift standard library, `Duration`.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    // Both have the duration's sign, so rounding up affects only positive remainders.
    let part = attoseconds / 1_000_000_000
    let rest = attoseconds % 1_000_000_000 > 0 ? 1 : 0 as Int64
    let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let sum = whole.partialValue.addingReportingOverflow(part + rest)
    if whole.overflow || sum.overflow {
      let up = attoseconds > 0 && seconds < .max ? seconds + 1 : seconds
      self = .seconds(Int(clamping: up))
    } else {
      self = .nanoseconds(Int(clamping: sum.partialValue))
    }
  }

  /// The nanoseconds, clamped; the largest number for `.never`.
  package var saturatedNanoseconds: Int64 {
    switch self {
    case .seconds(let count): Self.product(count, 1_000_000_000)
    case .milliseconds(let count): Self.product(count, 1_000_000)
    case .microseconds(let count): Self.product(count, 1_000)
    case .nanoseconds(let count): Int64(count)
    case .never: .max
    }
  }

  /// The nanoseconds of the interval with the opposite sign, clamped.
  var negatedNanoseconds: Int64 {
    let nanoseconds = saturatedNanoseconds
    return nanoseconds == .min ? .max : -nanoseconds
  }

  /// Returns `seconds` as nanoseconds, rounded towards zero and clamped; the largest number for
  /// NaN.
  static func saturatedNanoseconds(seconds: Double) -> Int64 {
    let nanoseconds = seconds * 1_000_000_000
    // 2^63 is a Double; every Double below it, down to -2^63, is an Int64 when truncated.
    if nanoseconds >= 0x1p63 || nanoseconds.isNaN { return .max }
    return nanoseconds < -0x1p63 ? .min : Int64(nanoseconds)
  }

  /// Returns the distance between two counts of nanoseconds; `nil` stands for "for ever".
  static func distance(from start: UInt64?, to end: UInt64?) -> DispatchTimeInterval {
    switch (start, end) {
    case (let start?, let end?):
      // Both are at most 2^62.
      .nanoseconds(Int(clamping: Int64(end) - Int64(start)))
    case (nil, nil): .nanoseconds(0)
    case (_, nil): .never
    case (nil, _): .nanoseconds(.min)
    }
  }

  private static func product(_ count: Int, _ scale: Int64) -> Int64 {
    let product = Int64(count).multipliedReportingOverflow(by: scale)
    return product.overflow ? (count < 0 ? .min : .max) : product.partialValue
  }
}
