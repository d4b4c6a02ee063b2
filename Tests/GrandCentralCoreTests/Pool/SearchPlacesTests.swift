// Where a worker looks for nodes that are not its own, and the order of items that one item
// submits. No threads, but for the last test: each test plays the worker.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The places of a search") struct SearchPlacesTests {
  /// A pool without threads, a worker that searches, and another one with nodes in its queues.
  private struct Stage {
    let pool = Pool.own(width: 1, threads: 2, spawn: { _, _, _ in EAGAIN }, isWatched: false)
    let (worker, other): (Worker, Worker)
    let block = NodeBlock(12)

    init() {
      (worker, other) = (pool.makeWorker(), pool.makeWorker())
      worker.status.store(.running, ordering: .relaxed)
      pool.state.store(PoolState(rawValue: 1 << 48 | 1 << 16 | 1), ordering: .relaxed)
      worker.isSearching = true
    }

    func inject(_ number: Int, _ kind: WorkKind, _ band: Band = .default) {
      let key = InjectorKey(kind: kind, band: band)
      pool.withInjector(key) { $0.push(block.nodes[number]) }
      pool.markWaiting(key)
    }

    func put(_ number: Int, _ kind: WorkKind, _ band: Band = .default) {
      other.localQueue(kind).put(block.nodes[number], band: band)
    }

    /// Searches, and returns the number of the node.
    func found(first: WorkKind, above limit: Band = .unspecified) -> Int? {
      pool.searchOnce(pool.hints, above: limit, first: first, for: worker)?.number
    }

    /// The same for a worker that does not count as a searcher.
    func foundOne(first: WorkKind) -> Int? { pool.takeOne(first: first, for: worker)?.number }
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `are another worker's queue, and then the injector`(kind: WorkKind, first: WorkKind) {
    let stage = Stage()
    stage.inject(2, kind)
    for number in 0..<2 { stage.put(number, kind) }
    #expect((0..<3).map { _ in stage.found(first: first) } == [0, 1, 2])
    #expect(stage.found(first: first) == nil)
    stage.inject(5, kind)
    for number in 3..<5 { stage.put(number, kind) }
    #expect((0..<3).map { _ in stage.foundOne(first: first) } == [3, 4, 5])
    #expect(stage.foundOne(first: first) == nil)
  }

  @Test(arguments: WorkKind.allCases)
  func `are the kinds in turn`(first: WorkKind) {
    let stage = Stage()
    stage.inject(0, first)
    for number in [1, 2] { stage.put(number, first.other) }
    #expect(stage.found(first: first) == 0)
    stage.inject(3, first)
    #expect(stage.found(first: first.other) == 1)
    #expect(stage.foundOne(first: first.other) == 2)
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `are those of the highest band`(kind: WorkKind, first: WorkKind) {
    let stage = Stage()
    for number in [0, 1] { stage.put(number, kind, .utility) }
    stage.inject(2, kind, .default)
    stage.inject(3, kind.other, .userInitiated)
    #expect((0..<2).map { _ in stage.found(first: first) } == [3, 2])
    for number in [4, 5] { stage.put(number, kind.other, .userInteractive) }
    stage.inject(6, kind, .default)
    #expect(stage.foundOne(first: first) == 4)
    #expect(stage.found(first: first, above: .default) == 5)
    #expect(stage.found(first: first, above: .default) == nil)
    #expect((0..<2).map { _ in stage.foundOne(first: first) } == [6, 0])
  }

  @Test(arguments: WorkKind.allCases)
  func `are lower injectors if the hint of a higher one is stale`(first: WorkKind) {
    let stage = Stage()
    stage.pool.markWaiting(InjectorKey(kind: .items, band: .userInteractive))
    stage.pool.markWaiting(InjectorKey(kind: .lanes, band: .userInitiated))
    stage.inject(0, .items, .utility)
    #expect(stage.found(first: first) == 0)
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `begin with an overdue injector`(kind: WorkKind, first: WorkKind) {
    let stage = Stage()
    for number in [0, 1, 2] { stage.put(number, kind) }
    for number in [3, 4] { stage.inject(number, kind) }
    stage.pool.setOverdue(InjectorSet(InjectorKey(kind: kind, band: .default)))
    #expect(stage.foundOne(first: first) == 3)
    #expect(stage.found(first: first) == 4)
    #expect(stage.found(first: first) == 0)
  }

  /// A worker whose nodes last for so long.
  @Test(arguments: [1_000, 60_000])
  func `begin with the other kind's injector if nodes are short`(nanoseconds: UInt64) {
    let stage = Stage()
    stage.pool.width.store(16, ordering: .relaxed)
    let now = Clock.monotonicNanoseconds()
    stage.worker.chunkSize.took(64, of: 64, at: now - 64 * nanoseconds, pick: 0)
    _ = stage.worker.chunkSize.next(at: now, pick: 64, width: 16)
    for number in [0, 1] { stage.put(number, .items) }
    stage.inject(2, .items)
    #expect(stage.found(first: .lanes) == (nanoseconds < 42_000 ? 2 : 0))
  }

  /// Its item has filled its queue, and put the rest into the injector.
  @Test func `come after a worker's own queue that was empty before`() {
    let stage = Stage()
    #expect(stage.pool.take(for: stage.worker) == nil)
    for number in 0..<3 { stage.worker.items.put(stage.block.nodes[number], band: .default) }
    stage.inject(3, .items)
    #expect((0..<4).map { _ in stage.pool.take(for: stage.worker)?.number } == [0, 1, 2, 3])
  }

  /// An item of the queue has submitted more than found room.
  @Test func `are the injector for items of a concurrent queue while any wait there`() {
    let isDone = onThreads(1) { _ in
      let stage = Stage()
      let thread = currentThread()
      thread.pointee.worker = Unmanaged.passUnretained(stage.worker).toOpaque()
      stage.pool.enter(.default, stage.worker)
      for node in stage.block.nodes.dropFirst() { node.traits.formUnion(.carried) }
      stage.pool.submit(stage.block.nodes[1], .items, band: .default, from: thread)
      #expect(stage.worker.items.count == 1)
      stage.inject(2, .items)
      stage.pool.submit(stage.block.nodes[3], .items, band: .default, from: thread)
      #expect(stage.worker.items.count == 1)
      stage.pool.submit(stage.block.nodes[0], .items, band: .default, from: thread)
      #expect(stage.worker.items.count == 2, "an item of a global queue")
      #expect(stage.worker.items.take() == stage.block.nodes[1])
      #expect(stage.worker.items.take() == stage.block.nodes[0])
      #expect((0..<2).map { _ in stage.found(first: .items) } == [2, 3])
      thread.pointee.worker = nil
    }
    #expect(isDone)
  }

  @Test func `keep the order of 1000 items that an item of a concurrent queue submits`() {
    let isInOrder = eventually {
      let pool = Pool.own(width: 2, threads: 2, isWatched: false)
      let queue = DispatchQueue(
        label: "test.order", attributes: .concurrent,
        target: kept(Runtime(pool: pool)).root(.default))
      let order = Log<Int>()
      queue.async {
        for number in 0..<1000 {
          queue.async {
            order.append(number)
            let end = monotonicSeconds() + 0.00005
            spin { monotonicSeconds() >= end }
          }
        }
      }
      #expect(order.waitForCount(1000))
      // At a pick in 61 a worker looks elsewhere first.
      let places = order.all.enumerated().map { abs($0.offset - $0.element) }
      return places.count { $0 > 2 } <= 50
    }
    #expect(isInOrder)
  }
}
