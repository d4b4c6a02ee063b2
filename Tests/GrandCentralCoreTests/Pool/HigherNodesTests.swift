// Nodes in the local queue of a worker whose own node is of a lower class, and may not end.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Nodes of a higher class in a worker's queue") struct HigherNodesTests {
  /// A pool with a worker that runs a lower class, and one with three nodes in its queue.
  private struct Stage {
    let pool = Pool.own(width: 1, threads: 2, spawn: { _, _, _ in EAGAIN }, isWatched: false)
    let worker: Worker
    let block = NodeBlock(4)
    private let key: InjectorKey

    init(_ kind: WorkKind, besideLower: Bool = true) {
      key = InjectorKey(kind: kind, band: .userInitiated)
      if besideLower { pool.enter(.utility, pool.makeWorker()) }
      worker = pool.makeWorker()
      for node in block.nodes[..<3] { worker.localQueue(kind).put(node, band: key.band) }
      pool.withInjector(key) { $0.push(block.nodes[3]) }
      pool.markWaiting(key)
    }

    /// Lets the monitor look, and returns what it has moved to the injector, in order.
    func look() -> ArraySlice<WorkNode> {
      pool.monitor.look(at: pool, hasWork: true)
      var nodes: [WorkNode] = []
      let taker = pool.makeWorker()
      while pool.withInjector(key, { !$0.isEmpty }),
        let (node, _) = pool.takeOldest(from: key, for: taker)
      {
        nodes.append(node)
      }
      if nodes.last == block.nodes[3] { nodes.removeLast() }
      return nodes[...]
    }
  }

  @Test(arguments: WorkKind.allCases, [Band.utility, .userInitiated, .unspecified])
  func `are moved to the front of the injector`(kind: WorkKind, of running: Band) {
    let stage = Stage(kind)
    stage.pool.enter(running, stage.worker)
    stage.worker.status.store(running == .unspecified ? .away : .announced, ordering: .relaxed)
    #expect(stage.look() == stage.block.nodes[..<3])
    #expect(stage.worker.localQueue(kind).isEmpty)
  }

  @Test func `stay where the worker has picked since the last look, or none runs lower work`() {
    let picking = Stage(.items)
    picking.worker.picks.store(1, ordering: .relaxed)
    #expect(picking.look() == [])
    #expect(picking.worker.items.count == 3)
    #expect(picking.look() == picking.block.nodes[..<3])
    let alone = Stage(.items, besideLower: false)
    alone.pool.enter(.userInitiated, alone.worker)
    #expect(alone.look() == [])
    #expect(alone.worker.items.count == 3)
  }

  /// When the worker steps back, another item takes the one place of the higher class; then that
  /// ends.
  @Test func `begin after their worker has stepped back`() {
    let pool = Pool.own(width: 3, threads: 3, isWatched: false)
    let (lowIsOver, highIsOver) = (Latch(), Latch())
    let begun = Latch(2)
    let done = Latch(3)
    for (band, isOver) in [(Band.utility, lowIsOver), (.userInteractive, highIsOver)] {
      pool.submit(band: band) {
        begun.open()
        spin { isOver.isOpen }
      }
    }
    #expect(begun.wait())
    pool.submit(band: .userInteractive) {
      // The rest of a chunk that it took from the injector.
      guard let raw = currentThread().pointee.worker else { return }
      let worker = Unmanaged<Worker>.fromOpaque(raw).takeUnretainedValue()
      for _ in 0..<3 {
        let node = Pool.node(.items, .userInteractive) { done.open() }
        worker.items.put(node, band: .userInteractive)
      }
      pool.width.store(1, ordering: .relaxed)
    }
    #expect(eventually { pool.state.load(ordering: .relaxed).idle == 1 })
    // The first items came by the injector, and have left its bit set.
    pool.unmarkIfEmpty(InjectorKey(kind: .items, band: .userInteractive))
    highIsOver.open()
    #expect(done.wait())
    lowIsOver.open()
    #expect(pool.faultsAtRest() == [])
  }

  /// One worker takes chunks of the higher items, and now and then an item in turn.
  @Test func `begin while a lower item that was taken in turn does not end`() {
    let isOver = Latch()
    let mayBegin = Latch()
    let pool = Pool.own(width: 1, threads: 20)
    let begun = Latch()
    pool.submit(band: .userInteractive) {
      begun.open()
      spin { mayBegin.isOpen }
    }
    #expect(begun.wait())
    let done = Latch(5000)
    let low = Latch()
    pool.submit(band: .utility) {
      low.open()
      spin { isOver.isOpen }
    }
    for _ in 0..<5000 { pool.submit(band: .userInteractive) { done.open() } }
    mayBegin.open()
    #expect(done.wait())
    isOver.open()
    #expect(low.wait())
    #expect(pool.faultsAtRest() == [])
  }
}
