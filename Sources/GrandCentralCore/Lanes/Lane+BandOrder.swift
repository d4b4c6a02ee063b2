// Room: Lanes/Lane+BandOrder. A workloop's private list: the most urgent nodes first.
// A workloop is a serial lane with another order. Its state word, pushes, hand-offs and hold are
// those of any serial lane. Two things differ, and only the owner of the lane does them:
//   before each item  it takes the pending nodes and inserts them into the private list
//   a changed note    when a queued node asks for something else, it orders the list again
// So an item starts only if no node that is more urgent was pushed before the owner took the
// pending list for it. An item that has started is not interrupted; it is boosted, as on any lane.
//
// The list is one chain through `next`, from the most urgent band to the least; within a band in
// the order of submission. Each node records its band, in the field that on other lanes holds the
// highest band behind the node. Both have the same meaning in an ordered list: the urgency of the
// list from that node on.
//
// BandTails holds the last node of each band, so an insertion takes constant time however long the
// list is. Removing the first node does not update it: a tail is valid exactly if its band is not
// above that of the list's first node. Proof: the list is ordered, and nodes leave at its head.
// Nodes of a band above the head's have all left. Of a band below, none has. Of the head's own
// band, the last one has not left before the head. A node that the owner puts back, with no
// insertion since, is the head again, and the tail of its band is still recorded. insert() clears
// the invalid tails before it uses any.
//
// A lane that targets a workloop runs one item for each of its activations. So after each item the
// workloop compares what waits in it directly with what waits in the lanes above it.
// Source: Apple, Dispatch, `dispatch/workloop.h`.

/// The last node of each band on an ordered list.
struct BandTails {
  private var raw = InlineArray<6, UnsafeMutableRawPointer?>(repeating: nil)

  init() {
    invariant(Band.allCases.count == 6, "Band has another number of cases than BandTails.")
  }

  /// Inserts a node behind the nodes of its band and of all bands above.
  mutating func insert(_ node: WorkNode, _ band: Band, into list: inout WorkNode?) {
    let highest = list.map { Int($0.traits.bandBehind) } ?? -1
    for above in (highest + 1)..<raw.count { raw[above] = nil }
    let own = Int(band.rawValue)
    node.traits = node.traits.withBandBehind(band)
    var place = own
    while place < raw.count && raw[place] == nil { place += 1 }
    if place < raw.count, let last = raw[place].map(WorkNode.init) {
      node.next = last.next
      last.next = node
    } else {
      node.next = list
      list = node
    }
    raw[own] = node.raw
  }
}

extension Lane {
  /// Orders the private list anew, after what its nodes ask for may have changed. Nodes of one band
  /// keep their order. Only for the owner.
  @inline(never)
  final func orderAgain() {
    pendingRecheck = .level
    guard let oldest = batch else { return }
    batch = nil
    insertByBand(oldest)
  }

  /// Whether a workloop runs this lane, directly or through other lanes. Only for a holder.
  final var runsOnWorkloop: Bool {
    if kind == .bound { return false }
    return withTarget { $0.kind != .root && ($0.ordersByBand || $0.runsOnWorkloop) }
  }
}
