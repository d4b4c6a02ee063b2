// When a lane gives way, and what the worker takes then.
import CGrandCentralLinux
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Items after a lane has given way") struct LaneTurnTests {
  /// A worker beyond the allowance takes lanes, and items by turns only: one for each drain of a
  /// lane, however short. Consumers on a concurrent queue would fall behind their producers.
  @Test func `have a turn beyond the allowance, too`() throws {
    let isOver = Latch()
    let pool = Pool.occupied(by: .lanes, until: isOver, threads: 2)
    #expect(pool.makeSecondThread())
    pool.lanesBehindOthers.store(1, ordering: .relaxed)
    var kinds: [WorkKind] = []
    // The turn lasts for 50 µs, so beside other load it may end too early.
    let hasTurn = eventually {
      kinds = order(afterLaneIn: pool)
      return kinds == [.items, .items, .lanes]
    }
    #expect(hasTurn, "\(kinds)")
    isOver.open()
    #expect(pool.faultsAtRest() == [])
  }

  /// The order in which the second worker takes two items and a lane that are there when a lane on
  /// it has given way.
  private func order(afterLaneIn pool: Pool) -> [WorkKind] {
    let (log, ended) = (Log<WorkKind>(), Latch(3))
    pool.submit(.lanes) {
      for kind in [WorkKind.lanes, .items, .items] {
        pool.submit(kind) {
          log.append(kind)
          ended.open()
        }
      }
      let thread = currentThread()
      guard let raw = thread.pointee.worker else { return }
      let worker = Unmanaged<Worker>.fromOpaque(raw).takeUnretainedValue()
      worker.turnOfItems = Clock.monotonicNanoseconds()
    }
    _ = ended.wait()
    return log.all
  }
}

/// More threads run or sleep in items than are made at first. No threads: each test plays a worker
/// of class default.
@Suite("Lanes under stress") struct LanesUnderStressTests {
  private func play(_ body: @escaping @Sendable (Pool, Worker, ThreadContext) -> Void) {
    let isDone = onThreads(1) { _ in
      let pool = Pool.own(width: 1, threads: 1, spawn: { _, _, _ in EAGAIN }, isWatched: false)
      let (worker, thread) = (pool.makeWorker(), currentThread())
      worker.status.store(.running, ordering: .relaxed)
      let threads = UInt64(pool.firstThreads + 1)
      pool.state.store(PoolState(rawValue: threads << 48 | 1), ordering: .relaxed)
      #expect(pool.isStressed)
      thread.pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
      pool.enter(.default, worker)
      body(pool, worker, thread)
      thread.pointee.worker = nil
    }
    #expect(isDone)
  }

  private func inject(_ node: WorkNode, _ kind: WorkKind, _ band: Band, in pool: Pool) {
    let key = InjectorKey(kind: kind, band: band)
    pool.withInjector(key) { $0.push(node) }
    pool.markWaiting(key)
  }

  @Test(arguments: WorkKind.allCases, [Band.utility, .default, .userInitiated])
  func `give way to work above their class`(kind: WorkKind, band: Band) {
    play { pool, _, thread in
      let block = NodeBlock(1)
      inject(block.nodes[0], kind, band, in: pool)
      var turn = LaneTurn()
      var isOver = turn.isOver(left: 1, on: thread)
      #expect(!isOver)
      let end = Clock.monotonicNanoseconds() + LaneTurn.nanoseconds
      spin { Clock.monotonicNanoseconds() > end }
      isOver = turn.isOver(left: 1, on: thread)
      #expect(isOver == (band > .default))
      gc_gave_way(thread)
    }
  }

  /// With more workers active than allowed, another one preempts them.
  @Test(arguments: [1, 2] as [UInt64])
  func `with long items give way only within the allowance`(active: UInt64) {
    play { pool, _, thread in
      let threads = UInt64(pool.firstThreads + 1)
      pool.state.store(PoolState(rawValue: threads << 48 | active), ordering: .relaxed)
      let block = NodeBlock(1)
      inject(block.nodes[0], .items, .userInitiated, in: pool)
      var turn = LaneTurn()
      var isOver = turn.isOver(left: 1, on: thread)
      #expect(!isOver)
      let end = Clock.monotonicNanoseconds() + LaneTurn.longItem
      spin { Clock.monotonicNanoseconds() > end }
      isOver = turn.isOver(left: 1, on: thread)
      #expect(isOver == (active == 1))
      gc_gave_way(thread)
    }
  }

  @Test func `do not give way to what another worker has taken`() {
    play { pool, _, thread in
      pool.markWaiting(InjectorKey(kind: .items, band: .userInitiated))
      var turn = LaneTurn()
      var isOver = turn.isOver(left: 1, on: thread)
      #expect(!isOver)
      let end = Clock.monotonicNanoseconds() + LaneTurn.nanoseconds
      spin { Clock.monotonicNanoseconds() > end }
      isOver = turn.isOver(left: 1, on: thread)
      #expect(!isOver)
    }
  }

  @Test(arguments: WorkKind.allCases)
  func `of a worker's own queue go behind work above them`(kind: WorkKind) {
    play { pool, worker, _ in
      let block = NodeBlock(3)
      worker.lanes.put(block.nodes[1], band: .default)
      inject(block.nodes[0], kind, .userInitiated, in: pool)
      inject(block.nodes[2], .lanes, .default, in: pool)
      #expect((0..<3).map { _ in pool.take(for: worker)?.number } == [0, 1, 2])
    }
  }

  /// A lane that has given way to an item is in the injector, too.
  @Test func `go behind an item above the last one`() {
    play { pool, worker, _ in
      let block = NodeBlock(2)
      inject(block.nodes[1], .lanes, .default, in: pool)
      inject(block.nodes[0], .items, .userInitiated, in: pool)
      #expect((0..<2).map { _ in pool.take(for: worker)?.number } == [0, 1])
    }
  }

  @Test func `give way to work above their class in the worker's own queue`() {
    play { pool, worker, thread in
      let block = NodeBlock(1)
      worker.lanes.put(block.nodes[0], band: .userInitiated)
      var turn = LaneTurn()
      var isOver = turn.isOver(left: 8, on: thread)
      #expect(!isOver)
      let end = Clock.monotonicNanoseconds() + LaneTurn.nanoseconds
      spin { Clock.monotonicNanoseconds() > end }
      isOver = turn.isOver(left: 8, on: thread)
      #expect(isOver)
      gc_gave_way(thread)
    }
  }

  @Test func `of a worker beyond the allowance go behind lanes above them`() {
    play { pool, worker, _ in
      let block = NodeBlock(3)
      worker.lanes.put(block.nodes[1], band: .default)
      inject(block.nodes[0], .lanes, .userInitiated, in: pool)
      inject(block.nodes[2], .lanes, .default, in: pool)
      #expect((0..<3).map { _ in pool.takeLane(for: worker)?.number } == [0, 1, 2])
    }
  }
}
