// The due times of timers and the order of their cancellation: random, but equal in every run.

/// SplitMix64 (Steele, Lea, Flood, 2014).
public struct Random: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Timeouts that never fire: one to two minutes from now, in milliseconds (libuv's resolution).
public func farTimeouts(_ count: Int) -> [UInt64] {
  var random = Random(seed: 1)
  return (0..<count).map { _ in UInt64.random(in: 60_000..<120_000, using: &random) }
}

/// The numbers below `count`, in order or shuffled.
public func order(of count: Int, shuffled: Bool) -> [Int] {
  var random = Random(seed: 2)
  return shuffled ? (0..<count).shuffled(using: &random) : Array(0..<count)
}
