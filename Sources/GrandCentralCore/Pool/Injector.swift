// Room: Pool/Injector. Work of one kind and band that is in no worker's local queue.
// Any thread pushes on the inbox with one exchange, newest first. A taker holds the lock: it takes
// from `front`, and when `front` is empty moves the whole inbox there, oldest first.

final class Injector: @unchecked Sendable {
  /// Newest first.
  let inbox = Atomic<UInt>(0)
  /// Whether `front` is not empty; written under the lock, read as a hint.
  let hasFront = Atomic<Bool>(false)
  private let lock = Lock()
  /// Oldest first; guarded by `lock`, as is `back`.
  @Cell var front: WorkNode? = nil
  @Cell var back: WorkNode? = nil
  /// Nodes moved to `front`, and nodes taken from it, modulo 2³²; guarded by `lock`.
  @Cell var came: UInt32 = 0
  @Cell var went: UInt32 = 0

  /// Appends a node. Any thread.
  func push(_ node: WorkNode) {
    var seen = inbox.load(ordering: .relaxed)
    while true {
      node.next = UnsafeMutableRawPointer(bitPattern: seen).map(WorkNode.init)
      // sequentiallyConsistent: the push half of the sleep/wake pair argued in Pool+Park.swift.
      // It is releasing too: it publishes the node.
      let (won, now) = inbox.weakCompareExchange(
        expected: seen, desired: UInt(bitPattern: node.raw),
        successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
      if won { return }
      seen = now
    }
  }

  var isEmpty: Bool {
    // sequentiallyConsistent: the other half of that pair. Nodes that move from the inbox to
    // `front` are in neither for a moment, so `hasFront` is set before the inbox is emptied.
    // `hasFront` may be read relaxed: a thread that reads the zero of an emptied inbox has acquired
    // with it the earlier `true`; and nodes leave `front` because they are taken, or moved as
    // Pool+Park.swift allows.
    inbox.load(ordering: .sequentiallyConsistent) == 0 && !hasFront.load(ordering: .relaxed)
  }

  /// Takes the oldest node, and moves up to `most` - 1 more to the caller's local queue.
  func take(atMost most: Int, localQueue: LocalQueue, band: Band) -> WorkNode? {
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
        guard let next = front, localQueue.accepts(band) else { break }
        front = next.next
        localQueue.put(next, band: band)
        taken += 1
      }
      went &+= taken
      if front == nil {
        back = nil
        // A node that arrived meanwhile is in the inbox, which isEmpty reads too.
        hasFront.store(false, ordering: .relaxed)
      }
      return first
    }
  }

  /// Counts the nodes that entered and left, for a WaitClock. Nodes in the inbox count only once
  /// `front` is empty.
  func counts() -> (came: UInt32, went: UInt32) {
    lock.withLock {
      if front == nil { collectInbox() }
      return (came, went)
    }
  }

  private func collectInbox() {
    if inbox.load(ordering: .relaxed) == 0 { return }
    // Before the inbox is emptied: isEmpty() must not miss the nodes between the two.
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

/// The kind and the band of an injector.
struct InjectorKey: Equatable {
  let kind: WorkKind
  let band: Band

  /// Its index among the injectors. Its bit in `sourcesWaiting` is `bit`.
  var index: Int { kind.rawValue * 8 + Int(band.rawValue) }
  static var count: Int { 16 }
  var bit: UInt32 { 1 << UInt32(index) }
  /// All bits that exist: two kinds in five bands.
  static var all: UInt32 { 0b0011_1110_0011_1110 }
}
