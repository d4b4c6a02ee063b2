// Room: Pool/LocalQueue. A worker's local queue of 256 nodes: its owner fills it, any thread
// empties it.
//   head  next to take; any thread advances it by compare-exchange
//   tail  next to fill; only the owner advances it
// Oldest first, for the owner too. A thief copies the oldest, up to half, and then moves head past
// them in one exchange. If that succeeds, head has not moved; so the owner cannot have overwritten
// the copied slots, since it fills only while tail - head < 256. Slots are atomic because a thief
// whose exchange will fail may read one while it is written.
// `band` is the QoS band of all nodes in the queue. It changes only while the queue is empty,
// before the releasing store of tail that fills it. A thief reads it after tail; its exchange of
// head proves that the queue was not emptied since.
// After the run queues of Go's scheduler (runtime/proc.go: runqput, runqgrab).

// A value of two pointers, so that passing a queue counts no references. Its worker frees it. The
// words of a worker's two queues are in a `LocalQueueWords` of the pool, so that a scan of the pool
// reads one cache line for each worker.
struct LocalQueue: @unchecked Sendable {
  static var capacity: Int { scaled(256, inModels: 4) }
  /// The slots that its owner's items leave to nodes from injectors: see InjectorTurn.
  static var reserved: Int { scaled(64, inModels: 0) }

  struct Words: ~Copyable {
    let head: Atomic<UInt32>
    let tail: Atomic<UInt32>
    let band = Atomic<UInt8>(0)
    init(first: UInt32) {
      head = Atomic(first)
      tail = Atomic(first)
    }
  }
  let words: UnsafeMutablePointer<Words>
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  /// Makes an empty queue whose words are at `words`, which is not initialized. `first`: the
  /// initial head and tail. A test starts them near the point where they wrap around.
  init(at words: UnsafeMutablePointer<Words>, startingAt first: UInt32 = 0) {
    self.words = words
    words.initialize(to: Words(first: first))
    slots = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { (slots + index).initialize(to: Atomic(0)) }
  }

  /// Frees the slots. No thread may use the queue any more. The owner of the words ends them.
  func dismantle() {
    slots.deinitialize(count: Self.capacity)
    slots.deallocate()
  }

  private func slot(_ index: UInt32) -> UnsafeMutablePointer<Atomic<UInt>> {
    slots + Int(index % UInt32(Self.capacity))
  }

  var isEmpty: Bool { words.pointee.isEmpty }

  /// Counts the nodes that entered and left, for a WaitClock. Any thread; a hint.
  var counts: (came: UInt32, went: UInt32) {
    // Read `went` first, so that it is never ahead of `came`.
    let went = words.pointee.head.load(ordering: .acquiring)
    return (words.pointee.tail.load(ordering: .relaxed), went)
  }

  /// The number of nodes. The owner's, since the tail changes meanwhile otherwise.
  var count: UInt32 {
    // relaxed: a thief may take nodes right after, so the result may be too large.
    words.pointee.tail.load(ordering: .relaxed) &- words.pointee.head.load(ordering: .relaxed)
  }

  var band: Band { words.pointee.itsBand }

  // MARK: The owner's

  /// Whether a node of `band` may be put here now.
  func accepts(_ band: Band) -> Bool { room(for: band) > 0 }

  /// The number of nodes of `band` that may be put here now.
  @inline(__always)
  func room(for band: Band) -> Int {
    let last = words.pointee.tail.load(ordering: .relaxed)
    // acquiring: pairs with the exchange of the thread that emptied a slot which we will write.
    let first = words.pointee.head.load(ordering: .acquiring)
    if last == first { return Self.capacity }
    if words.pointee.band.load(ordering: .relaxed) != band.rawValue { return 0 }
    return Self.capacity &- Int(last &- first)
  }

  /// The same for a node that the owner's item submits.
  @inline(__always)
  func acceptsFromItem(_ band: Band) -> Bool { room(for: band) > Self.reserved }

  /// Appends a node. Requires accepts(band).
  func put(_ node: WorkNode, band: Band) {
    let last = words.pointee.tail.load(ordering: .relaxed)
    words.pointee.band.store(band.rawValue, ordering: .relaxed)
    slot(last).pointee.store(UInt(bitPattern: node.raw), ordering: .relaxed)
    // sequentiallyConsistent: either a searcher sees this store, or the submitter sees that no
    // worker searches; argued in Pool+Park.swift. It is releasing too: it publishes the slot and
    // the node.
    words.pointee.tail.store(last &+ 1, ordering: .sequentiallyConsistent)
  }

  /// Appends the first `count` nodes of a list, from the oldest to the newest, and returns the rest
  /// of the list. Requires room for them.
  func put(_ oldest: WorkNode, first count: Int, band: Band) -> WorkNode? {
    let last = words.pointee.tail.load(ordering: .relaxed)
    words.pointee.band.store(band.rawValue, ordering: .relaxed)
    var rest: WorkNode? = oldest
    for index in 0..<UInt32(count) {
      guard let node = rest else { engineFault("A list of nodes is shorter than its count.") }
      rest = node.next
      slot(last &+ index).pointee.store(UInt(bitPattern: node.raw), ordering: .relaxed)
    }
    // sequentiallyConsistent: as in put(_:band:).
    words.pointee.tail.store(last &+ UInt32(count), ordering: .sequentiallyConsistent)
    return rest
  }

  /// Appends a list of `count` nodes, from the newest to the oldest, except the oldest one, which
  /// it returns. Requires room for the others.
  func put(_ newest: WorkNode, count: Int, band: Band) -> WorkNode {
    if count == 1 { return newest }
    let last = words.pointee.tail.load(ordering: .relaxed)
    words.pointee.band.store(band.rawValue, ordering: .relaxed)
    var node = newest
    for index in (0..<UInt32(count - 1)).reversed() {
      slot(last &+ index).pointee.store(UInt(bitPattern: node.raw), ordering: .relaxed)
      fetchForWriting(node.raw)
      guard let older = node.next else { engineFault("A list of nodes is shorter than its count.") }
      node = older
    }
    // sequentiallyConsistent: as in put(). A worker in a lowered class, which is no searcher, puts
    // such a list too, and then wakes a worker. A scan misses it only if a thief has taken what the
    // worker had before.
    words.pointee.tail.store(last &+ UInt32(count - 1), ordering: .sequentiallyConsistent)
    return node
  }

  /// Takes the oldest node.
  func take() -> WorkNode? {
    var first = words.pointee.head.load(ordering: .relaxed)
    while true {
      let last = words.pointee.tail.load(ordering: .relaxed)
      if first == last { return nil }
      let value = slot(first).pointee.load(ordering: .relaxed)
      // relaxed is enough for the node: the owner put it here itself, or copied it acquiring.
      // releasing: orders our read of the slot before its reuse, after accepts().
      let (won, now) = words.pointee.head.weakCompareExchange(
        expected: first, desired: first &+ 1, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won { return node(value) }
      first = now
    }
  }

  // MARK: A thief's

  /// Moves the older half of this queue, up to `most` nodes, to `other`, the thief's own empty
  /// queue, and returns the oldest node.
  func steal(into other: LocalQueue, atMost most: Int = capacity) -> WorkNode? {
    // relaxed, and so on failure: a head newer than the tail that we read is noticed below.
    var first = words.pointee.head.load(ordering: .relaxed)
    while true {
      // acquiring: pairs with the store in put(): slots, nodes and band below tail are visible.
      let last = words.pointee.tail.load(ordering: .acquiring)
      let held = last &- first
      if held == 0 { return nil }
      // More than the capacity: one of the two is stale. acquiring: the thread that moved head had
      // seen a tail beyond it, and now we see it too.
      guard held <= UInt32(Self.capacity) else {
        first = words.pointee.head.load(ordering: .acquiring)
        continue
      }
      let count = min(held - held / 2, UInt32(most))
      let stolenBand = words.pointee.band.load(ordering: .relaxed)
      let oldest = slot(first).pointee.load(ordering: .relaxed)
      let start = other.words.pointee.tail.load(ordering: .relaxed)
      // acquiring: pairs with the exchange of the thread that emptied the slots which we write.
      invariant(
        other.words.pointee.head.load(ordering: .acquiring) == start,
        "A thief's own local queue is not empty.")
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
        // releasing: publishes slots and nodes. It need not be in the single order, as put() is: a
        // thief is a searcher, and the last one that stops scans again, see Pool+Park.swift.
        other.words.pointee.tail.store(start &+ count &- 1, ordering: .releasing)
      }
      return node(oldest)
    }
  }

  /// Whether to steal from this queue. A single node is left to its owner for a moment: an owner
  /// that takes it at once, as when two queues exchange work, runs it several times sooner than a
  /// thief, whose CPU would first have to fetch all its memory.
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

  /// Takes the oldest node, and returns it with its band. Any thread.
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

extension LocalQueue.Words {
  /// Whether the queue is empty. Any thread. Exact in the order that Pool+Park.swift needs;
  /// elsewhere a hint.
  var isEmpty: Bool {
    // sequentiallyConsistent: one half of the sleep/wake pair argued in Pool+Park.swift. On lines
    // of their own, so that a model weakens one at a time.
    let first = head.load(ordering: .sequentiallyConsistent)
    return first == tail.load(ordering: .sequentiallyConsistent)
  }

  fileprivate var itsBand: Band { Band(rawValue: band.load(ordering: .relaxed)) ?? .default }

  /// The band of the nodes; unspecified if the queue is empty. A hint.
  var bandOfNodes: Band { isEmpty ? .unspecified : itsBand }
}

/// The words of both queues of each worker, by the worker's index.
struct LocalQueueWords {
  private let start: UnsafeMutableRawPointer
  /// Two cache lines: processors fetch lines in pairs, and other workers' words change often.
  private static var stride: Int { 128 }
  /// Half of the first line, or a line in the models, whose words are larger.
  private static var offset: Int { scaled(32, inModels: 64) }

  init(capacity: Int) {
    invariant(
      MemoryLayout<LocalQueue.Words>.size <= Self.offset, "The words of two local queues overlap.")
    start = .allocate(byteCount: capacity * Self.stride, alignment: Self.stride)
  }

  /// Ends the words of the first `count` workers, and frees the memory.
  func deallocate(count: Int) {
    for index in 0..<count {
      for kind in WorkKind.allCases { words(index, kind).deinitialize(count: 1) }
    }
    start.deallocate()
  }

  /// The words of the worker's queue for nodes of that kind.
  @inline(__always)
  func words(_ index: Int, _ kind: WorkKind) -> UnsafeMutablePointer<LocalQueue.Words> {
    let place = index * Self.stride + (kind == .items ? 0 : Self.offset)
    return (start + place).assumingMemoryBound(to: LocalQueue.Words.self)
  }
}
