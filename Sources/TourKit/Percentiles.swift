// Purpose: percentiles of measured times.

/// Sorted times and their percentiles.
public struct Percentiles: Sendable {
  /// The times, shortest first.
  public let sorted: [UInt64]

  public init(nanoseconds: [UInt64]) {
    sorted = nanoseconds.sorted()
  }

  public var count: Int { sorted.count }

  /// The smallest time that the fraction `share` of all times, from 0 to 1, does not exceed; 0 if
  /// there are no times.
  public func nanoseconds(at share: Double) -> UInt64 {
    guard !sorted.isEmpty else { return 0 }
    let rank = (share * Double(sorted.count)).rounded(.up)
    return sorted[max(0, min(sorted.count - 1, Int(rank) - 1))]
  }

  /// "50 % 0.012 ms, 99 % 1.234 ms, longest 3.210 ms".
  public var words: String {
    "50 % \(Wording.milliseconds(nanoseconds(at: 0.5))), "
      + "99 % \(Wording.milliseconds(nanoseconds(at: 0.99))), "
      + "longest \(Wording.milliseconds(nanoseconds(at: 1)))"
  }
}
