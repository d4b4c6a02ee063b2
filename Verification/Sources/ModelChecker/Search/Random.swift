// Room: ModelChecker/Random. Numbers for the random searches, the same for a seed on every machine.
// Sebastiano Vigna, "SplitMix64" (2015, public domain algorithm).

struct Random {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  /// Returns a number from 0 to `bound` - 1.
  mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  mutating func member(of set: ThreadSet) -> Int {
    var rest = set
    for _ in 0..<below(set.nonzeroBitCount) { rest &= rest &- 1 }
    return rest.first
  }
}
