// Room: Pool/Ring. A worker's own queue: 256 nodes, filled by its owner, emptied by anybody.
//   head  next to take; anybody advances it by compare-exchange
//   tail  next to fill; only the owner advances it
// Oldest first, for the owner too. A thief copies the oldest half and then moves head past it in one
// exchange: if that succeeds head has not moved, so the owner cannot have written over what was copied,
// since it fills only tail - head < 256. Slots are atomic because a thief that will fail may read one
// while it is written.
// `band` is the QoS band of all nodes in it. It changes only while the ring is empty, before the
// releasing store of tail that ends that; a thief reads it after tail, and the exchange of head tells it
// that the ring was not emptied since.
// After the run queues of Go's scheduler (runtime/proc.go, runqput, runqgrab), which argue the same.

// A value of two pointers, so that passing rings around counts no references. Its worker frees it.
struct Ring: @unchecked Sendable {
  static var capacity: Int { scaled(256, inModels: 4) }

  private struct Words: ~Copyable {
    let head: Atomic<UInt32>
    let tail: Atomic<UInt32>
    let band = Atomic<UInt8>(0)
    init(first: UInt32) {
      head = Atomic(first)
      tail = Atomic(first)
    }
  }
  private let words: UnsafeMutablePointer<Words>
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  /// `first`: where head and tail begin. They wrap around, and what is true at zero must be true there.
  init(startingAt first: UInt32 = 0) {
    words = .allocate(capacity: 1)
    words.initialize(to: Words(first: first))
    slots = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { (slots + index).initialize(to: Atomic(0)) }
  }

  /// Drops all that is in it. In a child that was forked, where nobody else is.
  func clear() {
    words.pointee.head.store(words.pointee.tail.load(ordering: .relaxed), ordering: .relaxed)
  }

  /// When nobody uses it any more.
  func dismantle() {
    words.deinitialize(count: 1)
    words.deallocate()
    slots.deinitialize(count: Self.capacity)
    slots.deallocate()
  }

  private func slot(_ index: UInt32) -> UnsafeMutablePointer<Atomic<UInt>> {
    slots + Int(index % UInt32(Self.capacity))
  }

  /// Any thread; a hint.
  var isEmpty: Bool {
    // sequentiallyConsistent: one half of the sleep/wake pair argued in Pool+Park.swift.
    words.pointee.head.load(ordering: .sequentiallyConsistent)
      == words.pointee.tail.load(ordering: .sequentiallyConsistent)
  }

  /// How many nodes ever came and went, for a WaitClock. Any thread; a hint.
  var counts: (came: UInt32, went: UInt32) {
    // `went` first, so that it is never ahead.
    let went = words.pointee.head.load(ordering: .acquiring)
    return (words.pointee.tail.load(ordering: .relaxed), went)
  }

  var band: Band { Band(rawValue: words.pointee.band.load(ordering: .relaxed)) ?? .default }

  // MARK: The owner's

  /// Whether a node of `band` may be put here now.
  func accepts(_ band: Band) -> Bool {
    let last = words.pointee.tail.load(ordering: .relaxed)
    // acquiring: pairs with the exchange of whoever emptied a slot that we will write.
    let first = words.pointee.head.load(ordering: .acquiring)
    if last == first { return true }
    return words.pointee.band.load(ordering: .relaxed) == band.rawValue
      && last &- first < UInt32(Self.capacity)
  }

  /// After accepts(band).
  func put(_ node: WorkNode, band: Band) {
    let last = words.pointee.tail.load(ordering: .relaxed)
    words.pointee.band.store(band.rawValue, ordering: .relaxed)
    slot(last).pointee.store(UInt(bitPattern: node.raw), ordering: .relaxed)
    // sequentiallyConsistent: the store that the pool's searchers must see, or that must see that
    // nobody searches; argued in Pool+Park.swift. It is releasing too: publishes slot and node.
    words.pointee.tail.store(last &+ 1, ordering: .sequentiallyConsistent)
  }

  /// The oldest node.
  func take() -> WorkNode? {
    var first = words.pointee.head.load(ordering: .relaxed)
    while true {
      let last = words.pointee.tail.load(ordering: .relaxed)
      if first == last { return nil }
      let value = slot(first).pointee.load(ordering: .relaxed)
      // relaxed is enough for the node: the owner itself put it here, or copied it acquiring.
      // releasing: orders our read of the slot before its reuse, after accepts().
      let (won, now) = words.pointee.head.weakCompareExchange(
        expected: first, desired: first &+ 1, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won { return node(value) }
      first = now
    }
  }

  // MARK: A thief's

  /// Moves the older half of this ring to `other`, which is empty and the caller's, and returns the
  /// oldest of it.
  func steal(into other: Ring) -> WorkNode? {
    // relaxed, and so where the exchange fails: a head newer than the tail that we see is noticed below.
    var first = words.pointee.head.load(ordering: .relaxed)
    while true {
      // acquiring: pairs with the store in put(): slots, nodes and band below it are visible.
      let last = words.pointee.tail.load(ordering: .acquiring)
      let held = last &- first
      if held == 0 { return nil }
      // More than the ring holds: one of the two is stale. acquiring: whoever moved head had seen a tail
      // beyond it, and now we do.
      guard held <= UInt32(Self.capacity) else {
        first = words.pointee.head.load(ordering: .acquiring)
        continue
      }
      let count = held - held / 2
      let stolenBand = words.pointee.band.load(ordering: .relaxed)
      let oldest = slot(first).pointee.load(ordering: .relaxed)
      let start = other.words.pointee.tail.load(ordering: .relaxed)
      // acquiring: pairs with the exchange of whoever emptied the slots that we write.
      invariant(
        other.words.pointee.head.load(ordering: .acquiring) == start,
        "A thief's own ring is not empty.")
      for index in 1..<max(1, count) {
        other.slot(start &+ index &- 1).pointee.store(
          slot(first &+ index).pointee.load(ordering: .relaxed), ordering: .relaxed)
      }
      let (won, now) = words.pointee.head.weakCompareExchange(
        expected: first, desired: first &+ count, successOrdering: .releasing,
        failureOrdering: .relaxed)
      guard won else {
        first = now
        continue
      }
      other.words.pointee.band.store(stolenBand, ordering: .relaxed)
      if count > 1 {
        // releasing: publishes slots and nodes. Not in the single order, as put() is: a thief is a searcher,
        // and looks again when it stops, see Pool+Park.swift.
        other.words.pointee.tail.store(start &+ count &- 1, ordering: .releasing)
      }
      return node(oldest)
    }
  }

  /// Whether there is something to steal. A single node is left to its owner for a moment: an owner that
  /// comes to it at once, as when two queues hand work back and forth, runs it several times sooner than
  /// a thief, to whose CPU all its memory would have to move.
  func isWorthStealing(after looks: Int) -> Bool {
    let first = words.pointee.head.load(ordering: .relaxed)
    for _ in 0..<looks {
      let held = words.pointee.tail.load(ordering: .relaxed) &- first
      if held != 1 { return held != 0 }
      spinHint()
      if words.pointee.head.load(ordering: .relaxed) != first { return false }
    }
    return true
  }

  /// The oldest node and its band. Any thread.
  func takeOldest() -> (node: WorkNode, band: Band)? {
    // The orderings are those of steal(into:).
    var first = words.pointee.head.load(ordering: .relaxed)
    while true {
      let last = words.pointee.tail.load(ordering: .acquiring)
      if last == first { return nil }
      guard last &- first <= UInt32(Self.capacity) else {
        first = words.pointee.head.load(ordering: .acquiring)
        continue
      }
      let value = slot(first).pointee.load(ordering: .relaxed)
      let itsBand = band
      let (won, now) = words.pointee.head.weakCompareExchange(
        expected: first, desired: first &+ 1, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won { return (node(value), itsBand) }
      first = now
    }
  }

  private func node(_ value: UInt) -> WorkNode {
    // SAFETY: only put() and steal() fill slots, with nodes.
    WorkNode(UnsafeMutableRawPointer(bitPattern: value).unsafelyUnwrapped)
  }
}
