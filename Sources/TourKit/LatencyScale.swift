// Purpose: a logarithmic scale of times, from the power of ten below the shortest time to the one
// above the longest.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A kind of run and its times.
public struct LatencyRow: Sendable {
  public let title: String
  public let times: Percentiles

  public init(_ title: String, _ nanoseconds: [UInt64]) {
    self.title = title
    times = Percentiles(nanoseconds: nanoseconds)
  }
}

public struct LatencyScale: Sendable {
  /// The power of ten at which the scale begins, and the number of decades it spans.
  public let firstPower: Int
  public let decades: Int

  /// The scale that fits all of `rows`; one microsecond to one millisecond if they have no times.
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

  /// The largest power of ten not above `nanoseconds`; 0 for 0.
  private static func powerOfTen(_ nanoseconds: UInt64) -> Int { String(nanoseconds).count - 1 }

  private static func nanoseconds(_ power: Int) -> UInt64 {
    (0..<power).reduce(1) { product, _ in product * 10 }
  }

  /// The labels of the powers of ten, from the beginning to the end: "1 µs", "10 µs".
  public var ticks: [String] {
    (0...decades).map { step in
      let (unit, power) = (firstPower + step).quotientAndRemainder(dividingBy: 3)
      let count = "1" + String(repeating: "0", count: power)
      // Kiloseconds are beyond what the tour measures.
      return unit < 4 ? count + " " + ["ns", "µs", "ms", "s"][unit] : count + " ks"
    }
  }

  /// The position of a time on the scale, from 0 at the beginning to 1 at the end.
  public func position(of nanoseconds: UInt64) -> Double {
    let exponent = log10(Double(max(1, nanoseconds))) - Double(firstPower)
    return min(1, max(0, exponent / Double(decades)))
  }

  /// The numbers of `times` that fall into each of `count` equal parts of the scale.
  public func parts(_ count: Int, of times: Percentiles) -> [Int] {
    var parts = [Int](repeating: 0, count: count)
    for time in times.sorted { parts[min(count - 1, Int(position(of: time) * Double(count)))] += 1 }
    return parts
  }
}
