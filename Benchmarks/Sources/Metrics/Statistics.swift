// Order statistics: benchmarks are skewed, so nothing here is a mean.

public struct Distribution: Sendable {
  private let sorted: [Double]

  public init(_ values: [Double]) {
    sorted = values.sorted()
  }

  public var isEmpty: Bool { sorted.isEmpty }
  public var median: Double { quantile(0.5) }

  /// Linear between the two neighbouring ranks; 0 for no values.
  public func quantile(_ fraction: Double) -> Double {
    guard let last = sorted.last else { return 0 }
    let position = fraction * Double(sorted.count - 1)
    let below = Int(position)
    if below + 1 >= sorted.count { return last }
    let weight = position - Double(below)
    return sorted[below] * (1 - weight) + sorted[below + 1] * weight
  }
}
