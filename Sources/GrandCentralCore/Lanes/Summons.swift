// Room: Lanes/Summons. Who has been asked to drain a lane. A lane that wants to be drained sends a node to
// its target. If more urgent work comes before a worker has come to that, a second node of the higher band
// is sent, and whichever runs first drains the lane; the other finds nothing to do and goes. So nothing is
// ever taken out of the middle of a list.
//   63…32 generation  counts changes of the target: nodes sent to an old one are void
//       8 wanted      the lane is locked on behalf of whichever node runs first
//    5… 1 out         a node of that band is on its way
//   want ─sends if nothing as urgent is out→ wanted ─answer→ drained      wanted ─raise→ wanted, sends
// Each node on its way holds the lane once. While wanted, the lane's hold on itself (LaneState.held) is
// that of one of them, no matter which: as many references as nodes. Who answers takes over one as the
// lane's hold, who comes in vain gives one back.
// A node that was left behind is used again by the next want of its band: there are never more nodes than
// bands, however often a lane is raised.
// Raise against want: a raiser first puts the urgency in the lane's word, then changes this one; who wants
// first changes this word, then reads the lane's. Both changes of this word are read-modify-writes, so one of
// the two sees the other's. Raise against answer: the same, with the owner's look at the pending list.
// Model: Tests/Models/Scenes/OverrideModels.swift.

struct Summons: RawRepresentable, AtomicRepresentable, Hashable, Sendable {
  let rawValue: UInt64

  static var wanted: UInt64 { 1 << 8 }
  static var outMask: UInt64 { 0x3e }
}

extension Summons {
  var isWanted: Bool { rawValue & Self.wanted != 0 }
  var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  func isOut(_ band: Band) -> Bool { rawValue >> UInt64(band.rawValue) & 1 == 1 }
  /// A node of that band or a higher one is on its way.
  private func isOut(from band: Band) -> Bool {
    (rawValue & Self.outMask) >> UInt64(band.rawValue) != 0
  }

  private func sending(_ band: Band) -> (Summons, sends: Bool) {
    if isOut(from: band) { return (self, false) }
    return (Summons(rawValue: rawValue | 1 << UInt64(band.rawValue)), true)
  }

  /// The lane wants to be drained. `sends`: by a node of the caller's.
  func wanting(_ band: Band) -> (Summons, sends: Bool) {
    Summons(rawValue: rawValue | Self.wanted).sending(band)
  }

  enum Raise: Hashable {
    /// Nobody is asked: a thread is inside, or the one that locked the lane has not come to it yet.
    case isTooLate
    /// A node as urgent is on its way.
    case isOut
    /// The caller sends one.
    case sends
  }

  func raised(to band: Band) -> (Summons, Raise) {
    guard isWanted else { return (self, .isTooLate) }
    let (next, sends) = sending(band)
    return (next, sends ? .sends : .isOut)
  }

  /// A node has come to run. `drains`: it is the one.
  func answered(_ band: Band, generation: UInt32) -> (Summons, drains: Bool) {
    guard generation == self.generation else { return (self, false) }
    let next = rawValue & ~(1 << UInt64(band.rawValue))
    return (Summons(rawValue: next & ~Self.wanted), isWanted)
  }

  /// In a child that was forked: nobody is asked.
  func afterFork() -> Summons { Summons(rawValue: UInt64(generation) << 32) }

  /// The lane's target changes, and nothing is wanted: what was sent to the old one is void.
  func withdrawn() -> Summons {
    Summons(rawValue: UInt64(generation &+ 1) << 32 | rawValue & Self.wanted)
  }
}

extension Atomic where Value == Summons {
  /// Applies a transition. Acquiring and releasing even where nothing changes: the protocol above rests on
  /// every look being a change.
  @discardableResult
  func change<Action>(_ transition: (Summons) -> (Summons, Action)) -> Action {
    var seen = load(ordering: .relaxed)
    while true {
      let (next, action) = transition(seen)
      let (won, now) = weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won { return action }
      seen = now
    }
  }
}
