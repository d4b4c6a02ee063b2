// Room: Lanes/Lane+Width. How many items of a concurrent lane run at the same time.
// The width is not part of the word, which has no bits left. It changes only while the lane has no
// other holder: before activation, in a barrier, or while a thread holds the idle lane for a
// moment.
// A thread that admits a holder loads the word with acquiring, then the width. So arrivals after
// the call use the new width: until the barrier has run, the word makes them queue behind it; a
// word that does not was written after the change, and publishes the width.
// An arrival that races with the call may use the old width: the word that it read may change and
// return to the same value while the width changes. That is indistinguishable from an arrival
// before the call, except by counting the holders at that moment.

extension Lane {
  // relaxed: the acquiring load of the word orders this load, see above.
  @inline(__always)
  final var widthNow: Int { Int(width.load(ordering: .relaxed)) }

  /// The smallest width from this lane to the root, which has the largest possible. Only for a
  /// holder of the lane.
  final var narrowestWidth: Int { hierarchy.lazy.map(\.widthNow).min() ?? 1 }

  /// How many more holders every lane up to the root would admit. A guess: it changes at any time.
  /// Only for a holder of the lane.
  final var roomNow: Int {
    hierarchy.lazy.map { lane in
      let seen = lane.state.load(ordering: .relaxed)
      return seen.hasWork ? 0 : max(0, lane.widthNow - seen.running)
    }.min() ?? 0
  }
}
