// Purpose: times on a logarithmic scale, for the eye: from the power of ten below the shortest to
// the one above the longest.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A kind of run, and the times it took.
public struct LatencyRow: Sendable {
  public let title: String
  public let times: Percentiles

  public init(_ title: String, _ nanoseconds: [UInt64]) {
    self.title = title
    times = Percentiles(nanoseconds: nanoseconds)
  }
}

public struct LatencyScale: Sendable {
  /// The power of ten that the scale begins at, and how many lie on it.
  public let firstPower: Int
  public let decades: Int

  /// The scale that all of `rows` fit on; one microsecond to one millisecond where there are no
  /// times.
  public init(for rows: [LatencyRow]) {
    let rows = rows.filter { $0.times.count > 0 }
    let shortest = rows.map { $0.times.sorted[0] }.min() ?? 1000
    let longest = rows.map { $0.times.nanoseconds(at: 1) }.max() ?? 1_000_000
    let power = Self.powerOfTen(shortest)
    firstPower = power
    var last = power + 1
    while last < 19 && Self.nanoseconds(last) < longest { last += 1 }
    decades = last - power
  }

  /// The largest power of ten that is not above `nanoseconds`; 0 for 0.
  private static func powerOfTen(_ nanoseconds: UInt64) -> Int { String(nanoseconds).count - 1 }

  private static func nanoseconds(_ power: Int) -> UInt64 {
    (0..<power).reduce(1) { product, _ in product * 10 }
  }

  /// The powers of ten on it, from its beginning to its end: "1 µs", "10 µs".
  public var ticks: [String] {
    (0...decades).map { step in
      let (unit, power) = (firstPower + step).quotientAndRemainder(dividingBy: 3)
      let count = "1" + String(repeating: "0", count: power)
      // Beyond some minutes nobody looks at a plot.
      return unit < 4 ? count + " " + ["ns", "µs", "ms", "s"][unit] : count + " ks"
    }
  }

  /// Where a time lies: 0 at the beginning, 1 at the end.
  public func position(of nanoseconds: UInt64) -> Double {
    let exponent = log10(Double(max(1, nanoseconds))) - Double(firstPower)
    return min(1, max(0, exponent / Double(decades)))
  }

  /// How many of `times` fall into each of `count` equal parts of the scale.
  public func parts(_ count: Int, of times: Percentiles) -> [Int] {
    var parts = [Int](repeating: 0, count: count)
    for time in times.sorted { parts[min(count - 1, Int(position(of: time) * Double(count)))] += 1 }
    return parts
  }
}
