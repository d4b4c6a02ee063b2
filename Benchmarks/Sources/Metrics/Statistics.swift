// Order statistics. There is no mean, because the distributions are skewed.

public struct Distribution: Sendable {
  private let sorted: [Double]

  public init(_ values: [Double]) {
    sorted = values.sorted()
  }

  public var isEmpty: Bool { sorted.isEmpty }
  public var median: Double { quantile(0.5) }

  /// The quantile, interpolated between the two neighbouring ranks; 0 if there are no values.
  public func quantile(_ fraction: Double) -> Double {
    guard let last = sorted.last else { return 0 }
    let position = fraction * Double(sorted.count - 1)
    let below = Int(position)
    if below + 1 >= sorted.count { return last }
    let weight = position - Double(below)
    return sorted[below] * (1 - weight) + sorted[below + 1] * weight
  }
}
