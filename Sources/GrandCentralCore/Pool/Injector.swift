// Room: Pool/Injector. Work of one band from outside the workers, and what their rings cannot hold.
// Anybody pushes with one exchange, newest first. A taker, under the lock, moves the whole inbox behind
// what was taken before, oldest first, and takes from the front.

final class Injector: @unchecked Sendable {
  /// Newest first.
  private let inbox = Atomic<UInt>(0)
  /// Whether `front` is not empty; written under the lock, read as a hint.
  private let hasFront = Atomic<Bool>(false)
  private let lock = Lock()
  /// Oldest first; guarded by `lock`, as is `back`.
  @Cell private var front: WorkNode? = nil
  @Cell private var back: WorkNode? = nil
  /// How many nodes were moved to `front` and taken from it, modulo 2³²; guarded by `lock`.
  @Cell private var came: UInt32 = 0
  @Cell private var went: UInt32 = 0

  /// Any thread.
  func push(_ node: WorkNode) {
    var seen = inbox.load(ordering: .relaxed)
    while true {
      node.next = UnsafeMutableRawPointer(bitPattern: seen).map(WorkNode.init)
      // sequentiallyConsistent: the push half of the sleep/wake pair argued in Pool+Park.swift.
      // It is releasing too: publishes the node.
      let (won, now) = inbox.weakCompareExchange(
        expected: seen, desired: UInt(bitPattern: node.raw),
        successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
      if won { return }
      seen = now
    }
  }

  var isEmpty: Bool {
    // sequentiallyConsistent: the other half of that pair. What is on its way from the inbox to `front`
    // is in neither, so `hasFront` is set before the inbox is emptied.
    // relaxed for the second: whoever reads the zero of an emptied inbox has acquired with it the `true` that
    // came before; and what leaves `front` is taken, or moved as Pool+Park.swift allows.
    inbox.load(ordering: .sequentiallyConsistent) == 0 && !hasFront.load(ordering: .relaxed)
  }

  /// The oldest node; up to `most` - 1 further ones go to `ring`, which is the caller's.
  func take(atMost most: Int, ring: Ring, band: Band) -> WorkNode? {
    if isEmpty { return nil }
    return lock.withLock {
      if front == nil { collectInbox() }
      guard let first = front else {
        hasFront.store(false, ordering: .relaxed)
        return nil
      }
      front = first.next
      var taken: UInt32 = 1
      for _ in 1..<most {
        guard let next = front, ring.accepts(band) else { break }
        front = next.next
        ring.put(next, band: band)
        taken += 1
      }
      went &+= taken
      if front == nil {
        back = nil
        // A node that came meanwhile is in the inbox, which isEmpty reads as well.
        hasFront.store(false, ordering: .relaxed)
      }
      return first
    }
  }

  /// How many nodes ever came and went, for a WaitClock. Nodes in the inbox count once they are
  /// behind nothing older.
  func counts() -> (came: UInt32, went: UInt32) {
    lock.withLock {
      if front == nil { collectInbox() }
      return (came, went)
    }
  }

  /// Drops all that is in it. In a child that was forked, where nobody else is.
  func clear() {
    inbox.store(0, ordering: .relaxed)
    hasFront.store(false, ordering: .relaxed)
    front = nil
    back = nil
    went = came
  }

  private func collectInbox() {
    if inbox.load(ordering: .relaxed) == 0 { return }
    // Before the inbox is emptied: at no moment may isEmpty() miss what is between the two.
    hasFront.store(true, ordering: .relaxed)
    // acquiring: the nodes, from push(). Releasing: `hasFront`, for isEmpty().
    let taken = inbox.exchange(0, ordering: .acquiringAndReleasing)
    guard let newest = UnsafeMutableRawPointer(bitPattern: taken).map(WorkNode.init) else { return }
    back = newest
    let (oldest, count) = newest.turnedRoundAndCounted()
    front = oldest
    came &+= count
  }
}
