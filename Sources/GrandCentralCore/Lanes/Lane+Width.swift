// Room: Lanes/Lane+Width. How many items of a concurrent lane run side by side.
// The width is no part of the word, which has no bits left for it. It changes only while nobody is inside: before the
// lane is activated, by a barrier, or by who holds the idle lane for a moment. Whoever lets somebody in reads the word with acquire and then
// the width. So whoever comes after the call goes by the new one: until the barrier has run, the word sends it into
// line behind; a word that does not comes from after the change, and brings the width along.
// Not so who comes beside the call: the word that it has read may be left and come again while the width changes, and
// lets it in by the old one. Nobody can tell that from having come before, but by counting who is inside just then.

extension Lane {
  // relaxed: the word that was read before says enough, see above.
  @inline(__always)
  final var widthNow: Int { Int(width.load(ordering: .relaxed)) }

  /// That of the narrowest up to the root, which has as many places as any lane can. Only for holders of the lane.
  final var narrowestWidth: Int { hierarchy.lazy.map(\.widthNow).min() ?? 1 }

  /// How many more all of them would let in. A guess: it changes at any time. Only for holders of the lane.
  final var roomNow: Int {
    hierarchy.lazy.map { lane in
      let seen = lane.state.load(ordering: .relaxed)
      return seen.hasWork ? 0 : max(0, lane.widthNow - seen.running)
    }.min() ?? 0
  }
}
