// Purpose: the generator's random numbers: a seed gives the same numbers on every machine.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
public struct Dice: Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  /// The stream for program `index` of the campaign `seed`, uncorrelated with its neighbours.
  public init(seed: UInt64, index: Int) {
    var first = Dice(seed: seed)
    var second = Dice(seed: first.next() ^ UInt64(truncatingIfNeeded: index))
    state = second.next()
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number in 0 ..< limit. A fuzzer cannot notice the bias of the multiplication.
  public mutating func below(_ limit: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(limit)).high)
  }

  public mutating func within(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.count)
  }

  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  public mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }
}
