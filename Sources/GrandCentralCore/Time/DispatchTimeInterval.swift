// Room: Time/DispatchTimeInterval. Lengths of time. Every sum with one saturates instead of
// trapping: as nanoseconds an interval is clamped to Int64, whose largest value means for ever.

/// A length of time, which may be negative.
///
/// - Source: `DispatchTimeInterval` of the public reference.
public enum DispatchTimeInterval: Equatable, Sendable {
  case seconds(Int)
  case milliseconds(Int)
  case microseconds(Int)
  case nanoseconds(Int)
  /// Longer than any other.
  case never

  /// Whether both are equally long, in whatever units. Lengths that exceed 292 years are all alike,
  /// but none of them is `.never`.
  public static func == (lhs: DispatchTimeInterval, rhs: DispatchTimeInterval) -> Bool {
    switch (lhs, rhs) {
    case (.never, .never): true
    case (.never, _), (_, .never): false
    default: lhs.saturatedNanoseconds == rhs.saturatedNanoseconds
    }
  }
}

extension DispatchTimeInterval {
  /// The interval that lasts as long as `duration`, to the nanosecond, rounded up: what waits for
  /// it never ends early.
  ///
  /// - Parameter duration: beyond 292 years it is kept to the second, rounded up, and beyond what
  ///   an `Int` of seconds can hold it is the most or the least that one can.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    // Both have the duration's sign, so rounding up touches only positive remainders.
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

  /// Nanoseconds, clamped; the largest number for `.never`.
  var saturatedNanoseconds: Int64 {
    switch self {
    case .seconds(let count): Self.product(count, 1_000_000_000)
    case .milliseconds(let count): Self.product(count, 1_000_000)
    case .microseconds(let count): Self.product(count, 1_000)
    case .nanoseconds(let count): Int64(count)
    case .never: .max
    }
  }

  /// The same, of the interval with the opposite sign.
  var negatedNanoseconds: Int64 {
    let nanoseconds = saturatedNanoseconds
    return nanoseconds == .min ? .max : -nanoseconds
  }

  /// `seconds` as nanoseconds, towards zero, clamped; the largest number if it is not a number.
  static func saturatedNanoseconds(seconds: Double) -> Int64 {
    let nanoseconds = seconds * 1_000_000_000
    // 2^63 is a Double; every Double below it, down to -2^63, is an Int64 when truncated.
    if nanoseconds >= 0x1p63 || nanoseconds.isNaN { return .max }
    return nanoseconds < -0x1p63 ? .min : Int64(nanoseconds)
  }

  /// From one count of nanoseconds to another; `nil` stands for ever.
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
