// Random numbers that can be replayed. Every random test prints its seed; GRANDCENTRAL_SEED sets
// it.
import Glibc

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  public let seed: UInt64
  private var state: UInt64

  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// Takes the seed from GRANDCENTRAL_SEED or draws one, and prints it.
  public init(for test: String) {
    let fixed = variable("GRANDCENTRAL_SEED").flatMap { UInt64($0) }
    self.init(seed: fixed ?? UInt64.random(in: 0...UInt64(UInt32.max)))
    print("\(test): replay with GRANDCENTRAL_SEED=\(seed)")
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Makes an independent generator for another thread.
  public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }
}

/// The value of an environment variable, or nil.
public func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Multiplies `count` by GRANDCENTRAL_STRESS (default 1). The result is at least 1.
public func stressed(_ count: Int) -> Int {
  let factor = variable("GRANDCENTRAL_STRESS").flatMap { Double($0) } ?? 1
  return max(1, Int(Double(count) * factor))
}
