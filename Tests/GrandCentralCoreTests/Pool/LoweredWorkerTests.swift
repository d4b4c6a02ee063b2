// A worker whose thread is in a class below default, between two nodes. No threads: each test plays
// the worker.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A lowered worker") struct LoweredWorkerTests {
  /// Calls `body` with a worker that is active on the calling thread, which is in `band`.
  private func play(_ band: Band, _ body: @escaping @Sendable (Pool, Worker) -> Void) {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      ThreadEffects.apply(band, on: thread)
      let pool = Pool.own(width: 1, threads: 1, spawn: { _, _, _ in EAGAIN }, isWatched: false)
      let worker = pool.makeWorker()
      worker.status.store(.running, ordering: .relaxed)
      worker.thread = thread
      pool.state.store(PoolState(rawValue: 1 << 48 | 1), ordering: .relaxed)
      pool.enter(band, worker)
      body(pool, worker)
      ThreadEffects.leave(thread)
    }
    #expect(isDone)
  }

  private func inject(_ nodes: [WorkNode], _ key: InjectorKey, in pool: Pool) {
    for node in nodes { pool.withInjector(key) { $0.push(node) } }
    pool.markWaiting(key)
  }

  @Test(arguments: [Band.background, .utility], [Band.background, .default])
  func `takes its next node without counting as a searcher`(own: Band, next: Band) {
    play(own) { pool, worker in
      let block = NodeBlock(8)
      for kind in WorkKind.allCases {
        worker.chunkSize = ChunkSize(2)
        inject(Array(block.nodes[..<4]), InjectorKey(kind: kind, band: next), in: pool)
        for node in block.nodes[..<4] {
          #expect(pool.take(for: worker) == node)
          #expect(pool.state.load(ordering: .relaxed).searching == 0)
          #expect(!worker.hasLocalWork, "only a searcher moves nodes")
        }
        // Another worker's local queue.
        let other = pool.makeWorker()
        for node in block.nodes[4...] { other.localQueue(kind).put(node, band: next) }
        for node in block.nodes[4...] {
          #expect(pool.take(for: worker) == node)
          #expect(pool.state.load(ordering: .relaxed).searching == 0 && !worker.hasLocalWork)
        }
      }
    }
  }

  @Test func `takes from an overdue injector without counting as a searcher`() {
    play(.background) { pool, worker in
      let key = InjectorKey(kind: .items, band: .background)
      let block = NodeBlock(4)
      for node in block.nodes[..<2] { worker.items.put(node, band: .background) }
      inject(Array(block.nodes[2...]), key, in: pool)
      pool.setOverdue(InjectorSet(key))
      #expect(pool.take(for: worker) == block.nodes[2])
      #expect(pool.state.load(ordering: .relaxed).searching == 0 && worker.items.count == 2)
    }
  }

  @Test func `takes several at its turn, behind its own`() {
    play(.utility) { pool, worker in
      let key = InjectorKey(kind: .items, band: .utility)
      let block = NodeBlock(5)
      // Its pass is over.
      pool.beginPass(of: worker)
      worker.injectorTurn.isInPass = true
      worker.items.put(block.nodes[0], band: .utility)
      inject(Array(block.nodes[1...]), key, in: pool)
      worker.injectorTurn.grew()
      let order = [1, 0, 2, 3, 4]
      #expect(order.map { _ in pool.take(for: worker)?.number } == order)
      #expect(pool.state.load(ordering: .relaxed).searching == 0)
    }
  }

  @Test func `leaves its class before it searches`() {
    play(.background) { pool, worker in
      #expect(pool.take(for: worker) == nil)
      #expect(pool.state.load(ordering: .relaxed).searching == 1)
      #expect(ThreadEffects.isInEffect(.default, on: currentThread()))
    }
  }

  @Test(arguments: [Band.background, .default])
  func `is woken after the others`(own: Band) {
    play(own) { pool, worker in
      let other = pool.makeWorker()
      pool.state.store(PoolState(rawValue: 2 << 48 | 1 << 32 | 1), ordering: .relaxed)
      pool.idleStack.push(other)
      other.isOnIdleStack = true
      #expect(pool.take(for: worker) == nil)
      #expect(pool.park(worker, currentThread()))
      let isLast = own == .background
      #expect(pool.idleStack.workers.map(\.index) == (isLast ? [0, 1] : [1, 0]))
      #expect(!worker.wasLow)
      pool.idleStack.removeAll()
    }
  }

  @Test func `is as the others once its search has found a node`() {
    play(.background) { pool, worker in
      let key = InjectorKey(kind: .items, band: .default)
      #expect(pool.take(for: worker) == nil)
      inject([NodeBlock(1).nodes[0]], key, in: pool)
      #expect(pool.take(for: worker) != nil)
      pool.stopSearching(worker)
      #expect(!worker.wasLow)
    }
  }

  @Test(arguments: [Band.default, .userInitiated])
  func `is the only one that does not search`(own: Band) {
    play(own) { pool, worker in
      #expect(pool.take(for: worker) == nil)
      #expect(pool.state.load(ordering: .relaxed).searching == 1)
      #expect(ThreadEffects.isInEffect(own, on: currentThread()))
    }
  }
}
