// Room: Pool/Injector. Work of one kind and band that is in no worker's local queue.
// Any thread pushes on an inbox with one exchange, newest first. Takers follow each other under
// `lock`, and no thread holds it for longer than a walk through a chunk takes. Whatever leaves an
// inbox leaves it under `moving`, which is held for a few steps, or with further inboxes for a walk
// through one at most. So pushers form chunks while a taker walks. A thread with `lock` may wait
// for `moving`, never the reverse.
//   inbox ─a push fills it→ arrived ──→ chunks ─a taker has room→ its local queue
//     └─────a taker finds no chunk───────┘ └─it has less→ front, turned round ─→ its local queue
// The thread whose push makes the inbox a full chunk moves it, as it is, behind the other chunks. A
// taker turns a chunk round while it fills its local queue, after it has released the lock if
// others wait.
// If another thread holds `moving`, the pusher leaves the inbox to the next one: no push waits. The
// inbox of a holder that loses its CPU thus grows, and only then is a chunk longer. (With one lock
// it grew during each walk too, and the next walk was as long as the inbox had become: one injector
// was the slower, the more threads took from it.)
// Where there are many CPUs, an injector has further inboxes. It begins to use them, for good, when
// a push has met several others. All items of one concurrent queue then go to one of them, and
// other nodes of one thread to one. A taker also moves inboxes that are not full behind the chunks,
// one after another, so no node waits for the others of its chunk.
// Order: the items of one concurrent queue leave in the order of their pushes, whichever threads
// push. So do other nodes if one thread pushes them, or while one inbox is in use; otherwise a
// node may leave before one that another thread has pushed earlier.
// Invariant: of one inbox, the oldest node is in the front, else in the first chunk, else in the
// first chunk that has arrived, else in the inbox.
// A node in the first inbox may precede nodes in a further one, never the reverse. So what empties
// a further inbox looks at the first one afterwards, and puts its nodes before the others.
// `places` has `.front` while the front or a chunk exists; it is set before nodes leave an inbox
// and stay in the injector.

final class Injector: @unchecked Sendable {
  /// The number of nodes that fill the inbox. Less than the count of a list can say: pushes of
  /// other threads that come before the move still have exact counts.
  static var chunkLength: Int { scaled(48, inModels: 3) }
  /// A push that fails more often has met too many others.
  private static var maxFailures: Int { scaled(2, inModels: 0) }
  /// How many chunks takers take before they move one inbox that is not full.
  private static var chunksPerInbox: Int { scaled(4, inModels: 1) }

  /// Where nodes may wait besides the first inbox.
  struct Places: OptionSet, AtomicRepresentable {
    let rawValue: UInt8
    static let front = Places(rawValue: 1)
    /// The further inboxes are in use.
    static let inboxes = Places(rawValue: 2)
  }

  let further: Inboxes
  private let gapBeforeInbox = LineGap()
  let inbox = Atomic<CountedList>(.empty)
  private let gapBeforePlaces = LineGap()
  /// Written under `moving`, read as a hint. Each push reads it, so it changes seldom.
  let places = Atomic<Places>([])
  private let gapBeforeMoving = LineGap()
  private let moving = Lock()
  /// The chunks that no taker has seen, oldest first: a node for each. Its context is the chunk, a
  /// `CountedList`. `moving` guards them.
  @Cell var arrived: WorkNode? = nil
  @Cell private var lastArrived: WorkNode? = nil
  /// Nodes that left an inbox, modulo 2³². `moving` guards it.
  @Cell var came: UInt32 = 0
  private let gapBeforeLock = LineGap()
  private let lock = Lock()
  /// Oldest first. The lock guards this and all below.
  @Cell var front: WorkNode? = nil
  /// Older than those that have arrived, and like them.
  @Cell var chunks: WorkNode? = nil
  /// Nodes that left the injector, modulo 2³².
  @Cell var went: UInt32 = 0
  /// Counts the chunks that were taken while the further inboxes are in use, and the inboxes that
  /// were looked at without.
  @Cell private var turn = 0

  /// `inboxes`: the number of further inboxes.
  init(inboxes: Int = 0) { further = Inboxes(count: inboxes) }

  deinit { further.deallocate() }

  /// Appends a node. Any thread.
  func push(_ node: WorkNode) {
    // acquiring: see isEmpty.
    if places.load(ordering: .acquiring).contains(.inboxes) { return pushFurther(node) }
    let (count, failures) = Self.add(node, to: inbox)
    if count >= Self.chunkLength { moveFullInbox(0) }
    if failures > Self.maxFailures && further.count > 0 { useFurther() }
  }

  @inline(never)
  private func pushFurther(_ node: WorkNode) {
    let number = 1 + Self.key(of: node) % further.count
    if Self.add(node, to: further[number - 1].pointee).count >= Self.chunkLength {
      moveFullInbox(number)
    }
  }

  /// Nodes of one key keep their order: items of one concurrent queue, other nodes of one thread.
  private static func key(of node: WorkNode) -> Int {
    guard node.traits.contains(.carried) else { return Int(currentThread().pointee.tid) }
    // Queues may lie at equal distances.
    let mixed = UInt64(UInt(bitPattern: node.carrier)) &* 0x9e37_79b9_7f4a_7c15
    return Int(mixed >> 32)
  }

  /// Adds a node to an inbox. Returns the number of nodes there, and of attempts that failed.
  @inline(__always)
  private static func add(
    _ node: WorkNode, to inbox: borrowing Atomic<CountedList>
  ) -> (count: Int, failures: Int) {
    var attempts = 0
    // sequentiallyConsistent: the push half of the sleep/wake pair argued in Pool+Park.swift. It is
    // releasing too: it publishes the node.
    let count = inbox.change(.sequentiallyConsistent) { list in
      attempts += 1
      node.next = list.newest
      let longer = list.adding(node)
      return (longer, longer.count)
    }
    return (count, attempts - 1)
  }

  var isEmpty: Bool {
    // sequentiallyConsistent: the other half of that pair. Nodes that move from an inbox are in
    // neither place for a moment, so `places` is written before the inbox is emptied: a thread that
    // reads the emptied inbox has acquired with it the earlier `.front`. And nodes leave because
    // they are taken, or moved as Pool+Park.swift allows.
    guard inbox.load(ordering: .sequentiallyConsistent) == .empty else { return false }
    // sequentiallyConsistent: a thread that pushed on a further inbox had acquired `.inboxes` from
    // the store in useFurther(). So that store is before its push in the single order, and this
    // load is after it if the push must be seen.
    let places = places.load(ordering: .sequentiallyConsistent)
    return places.isEmpty || places == .inboxes && areFurtherEmpty
  }

  @inline(never)
  private var areFurtherEmpty: Bool {
    for number in 0..<further.count
    where further[number].pointee.load(ordering: .sequentiallyConsistent) != .empty {
      return false
    }
    // relaxed: as above, after the inboxes.
    return !places.load(ordering: .relaxed).contains(.front)
  }

  /// Takes the oldest node, and moves up to `most` - 1 more to the caller's local queue.
  func take(atMost most: Int, localQueue: LocalQueue, band: Band) -> WorkNode? {
    if isEmpty { return nil }
    let most = most == 1 ? 1 : min(most, 1 + localQueue.room(for: band))
    var header: WorkNode?
    let (chunk, first) = lock.withLock { () -> (CountedList, WorkNode?) in
      if front == nil {
        let chunk = takeChunk(&header, upTo: most)
        if chunk.count <= most && chunk.isExact {
          countTaken(chunk.count)
          // Without chunks, takers outrun the pushes. If each came at once it would take a node or
          // two, and move the inbox's line from the pushing thread each time.
          guard header == nil, let newest = chunk.newest else { return (chunk, nil) }
          return (.empty, localQueue.put(newest, count: chunk.count, band: band))
        }
        open(chunk)
      }
      return (.empty, takeFromFront(atMost: most, localQueue, band))
    }
    if let header { NodeCache.put(header, currentThread()) }
    guard let newest = chunk.newest else { return first }
    return localQueue.put(newest, count: chunk.count, band: band)
  }

  /// Puts nodes before all others: those that a worker took, and does not run. A list from the
  /// oldest to the newest of them, `count` nodes. Any thread.
  func putFirst(from oldest: WorkNode, to newest: WorkNode, count: Int) {
    lock.withLock {
      newest.next = front
      front = oldest
      moving.withLock {
        came &+= UInt32(count)
        // sequentiallyConsistent: publishes the nodes, as a push does.
        places.store(knownPlaces.union(.front), ordering: .sequentiallyConsistent)
      }
    }
  }

  /// Counts the nodes that entered and left, for a WaitClock.
  func counts() -> (came: UInt32, went: UInt32) {
    lock.withLock {
      moving.withLock {
        // relaxed: a node more or less. `moving` keeps the inboxes from moving meanwhile.
        var waiting = inbox.load(ordering: .relaxed).count
        if usesFurther {
          for number in 0..<further.count {
            waiting += further[number].pointee.load(ordering: .relaxed).count
          }
        }
        return (came &+ UInt32(waiting), went)
      }
    }
  }

  /// Moves an inbox behind the chunks, if it is still full and no thread holds `moving`.
  @inline(never)
  private func moveFullInbox(_ number: Int) {
    let thread = currentThread()
    // Before `moving`, since it may take the depot's lock.
    let header = NodeCache.take(thread)
    guard moving.tryLock() else { return NodeCache.put(header, thread) }
    // relaxed: only the holder of `moving` empties it.
    let isFull = withInbox(number) { $0.load(ordering: .relaxed).count >= Self.chunkLength }
    if isFull { append(emptyInbox(number), header) }
    moving.unlock()
    if !isFull { NodeCache.put(header, thread) }
  }

  /// Makes the threads push on the further inboxes from now on, if no thread holds `moving`.
  @inline(never)
  func useFurther() {
    guard moving.tryLock() else { return }
    // sequentiallyConsistent: see isEmpty.
    places.store(knownPlaces.union(.inboxes), ordering: .sequentiallyConsistent)
    moving.unlock()
  }

  /// Forgets all nodes that have left an inbox. In a forked child, which has one thread.
  func forgetNodes() {
    (front, chunks, arrived, lastArrived) = (nil, nil, nil, nil)
    places.store(knownPlaces.subtracting(.front), ordering: .relaxed)
    went = came
  }

  // MARK: With the lock held

  /// Removes the first chunk, or an inbox if there is none. `header` becomes the chunk's node,
  /// unless that serves another chunk. `room`: how many nodes the taker wants.
  private func takeChunk(_ header: inout WorkNode?, upTo room: Int) -> CountedList {
    if chunks == nil {
      let list = moving.withLock { () -> CountedList in
        guard let first = arrived else {
          return usesFurther ? emptyNextInbox() : emptyFirstInbox(upTo: room)
        }
        chunks = first
        (arrived, lastArrived) = (nil, nil)
        return .empty
      }
      if list != .empty { return list }
    }
    guard let first = chunks else { return .empty }
    chunks = first.next
    let chunk = CountedList(rawValue: UInt64(UInt(bitPattern: first.context)))
    header = first
    if usesFurther {
      turn &+= 1
      if turn % Self.chunksPerInbox == 0 && moveInbox(turn / Self.chunksPerInbox, first) {
        header = nil
      }
    }
    return chunk
  }

  /// Moves an inbox behind the chunks. Returns false if it is empty.
  private func moveInbox(_ turn: Int, _ header: WorkNode) -> Bool {
    moving.withLock {
      let list = emptyInbox(turn % (further.count + 1))
      if list != .empty { append(list, header) }
      return list != .empty
    }
  }

  /// Makes a chunk the front, which is empty.
  private func open(_ chunk: CountedList) {
    guard let newest = chunk.newest else { return }
    let (oldest, count) = newest.turnedRoundAndCounted()
    front = oldest
    if Int(count) != chunk.count { moving.withLock { came &+= count &- UInt32(chunk.count) } }
  }

  private func takeFromFront(
    atMost most: Int, _ localQueue: LocalQueue, _ band: Band
  ) -> WorkNode? {
    guard let first = front else { return nil }
    front = first.next
    var taken = 1
    while taken < most, let next = front {
      front = next.next
      localQueue.put(next, band: band)
      taken += 1
    }
    countTaken(taken)
    return first
  }

  private func countTaken(_ count: Int) {
    went &+= UInt32(count)
    guard front == nil && chunks == nil && knownPlaces.contains(.front) else { return }
    moving.withLock {
      // A node that arrived meanwhile is in an inbox, which isEmpty reads too. releasing: as in
      // removeAll().
      if arrived == nil { places.store(knownPlaces.subtracting(.front), ordering: .releasing) }
    }
  }

  // MARK: With `moving` held

  // relaxed: for a thread that holds `moving`, or one for which a hint suffices. `.inboxes` is
  // never removed, and `.front` only by a thread that holds the lock.
  private var knownPlaces: Places { places.load(ordering: .relaxed) }
  private var usesFurther: Bool { knownPlaces.contains(.inboxes) }

  private func append(_ chunk: CountedList, _ header: WorkNode) {
    header.context = UnsafeMutableRawPointer(bitPattern: UInt(chunk.rawValue))
    header.next = nil
    if let lastArrived { lastArrived.next = header } else { arrived = header }
    lastArrived = header
  }

  /// Empties the first inbox for a taker. If it has room for all nodes, none stays, and the line
  /// that each push reads need not change.
  private func emptyFirstInbox(upTo room: Int) -> CountedList {
    // relaxed: a guess that the exchange re-checks.
    let seen = inbox.load(ordering: .relaxed)
    if seen == .empty { return .empty }
    if seen.count <= room && seen.isExact {
      // acquiring: the nodes, from push(). Not releasing: isEmpty misses nothing, since none stays.
      let (isEmptied, _) = inbox.compareExchange(
        expected: seen, desired: .empty, successOrdering: .acquiring, failureOrdering: .relaxed)
      if isEmptied {
        came &+= UInt32(seen.count)
        return seen
      }
    }
    return emptyInbox(0)
  }

  private func emptyNextInbox() -> CountedList {
    for _ in 0...further.count {
      turn &+= 1
      let list = emptyInbox(turn % (further.count + 1))
      if list != .empty { return list }
    }
    return .empty
  }

  /// Returns the nodes of an inbox; of a further one, after those of the first one.
  private func emptyInbox(_ number: Int) -> CountedList {
    var list = removeAll(from: number)
    // relaxed: the caller has acquired the nodes, and with them what was pushed before them.
    if number > 0 && list != .empty && inbox.load(ordering: .relaxed) != .empty {
      list = list.joined(toOlder: removeAll(from: 0))
    }
    came &+= UInt32(list.count)
    return list
  }

  private func removeAll(from number: Int) -> CountedList {
    withInbox(number) { inbox in
      if inbox.load(ordering: .relaxed) == .empty { return .empty }
      // Before the inbox is emptied: isEmpty must not miss the nodes between the two. releasing:
      // passes `.inboxes` on.
      let known = knownPlaces
      if !known.contains(.front) { places.store(known.union(.front), ordering: .releasing) }
      // acquiring: the nodes, from push(). Releasing: `places`, for isEmpty.
      return inbox.exchange(.empty, ordering: .acquiringAndReleasing)
    }
  }

  /// 0: the first inbox.
  @inline(__always)
  func withInbox<Result>(
    _ number: Int, _ body: (borrowing Atomic<CountedList>) -> Result
  ) -> Result {
    number == 0 ? body(inbox) : body(further[number - 1].pointee)
  }

}
