// Threads for lanes alone: contract rows T1 and T3.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A pool whose threads all wait for lanes") struct LaneReserveTests {
  /// Fills the pool with items that wait until the result is opened.
  private func fill(_ pool: Pool, count: Int, announced: Bool = true) -> Latch {
    let (begun, wakeUp) = (Latch(count), Latch())
    for _ in 0..<count {
      pool.submit {
        begun.open()
        if announced {
          Blocking.announced(currentThread()) { _ = wakeUp.wait() }
        } else {
          _ = wakeUp.wait()
        }
      }
    }
    #expect(begun.wait())
    return wakeUp
  }

  /// Submits lanes, each when the one before has run.
  private func run(lanes count: Int, on pool: Pool) -> Bool {
    (0..<count).allSatisfy { _ in
      let ran = Latch()
      pool.submit(.lanes) { ran.open() }
      return ran.wait()
    }
  }

  @Test(arguments: [1, 3], [false, true])
  func `runs each lane, and no item`(threads: Int, announced: Bool) {
    let pool = Pool.own(width: 2, threads: threads)
    let wakeUp = fill(pool, count: threads, announced: announced)
    let itemRan = Latch()
    pool.submit { itemRan.open() }
    #expect(run(lanes: 100, on: pool))
    #expect(!itemRan.isOpen, "an item took a thread that is kept for lanes")
    wakeUp.open()
    #expect(itemRan.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `runs lanes whose items wait for other lanes`() {
    let pool = Pool.own(width: 2, threads: 1)
    let wakeUp = fill(pool, count: 1)
    let ran = Latch(pool.configuration.maxReserve)
    @Sendable func nest(_ depth: Int) {
      ran.open()
      if depth == 1 { return }
      let inner = Latch()
      pool.submit(.lanes) {
        nest(depth - 1)
        inner.open()
      }
      Blocking.announced(currentThread()) { _ = inner.wait() }
    }
    pool.submit(.lanes) { nest(pool.configuration.maxReserve) }
    #expect(ran.wait())
    wakeUp.open()
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `ends the threads that were kept for lanes when they are idle`() {
    let pool = Pool.own(width: 1, threads: 1, keepAliveNanoseconds: 2_000_000)
    let wakeUp = fill(pool, count: 1)
    for _ in 1...3 {
      #expect(run(lanes: 3, on: pool))
      #expect(eventually { pool.idleLock.withLock { pool.laneReserve.threads == 0 } })
    }
    #expect(pool.workerCount.load(ordering: .relaxed) == 2, "records are used again")
    wakeUp.open()
    #expect(eventually { pool.state.load(ordering: .relaxed) == PoolState(rawValue: 0) })
  }

  @Test func `replaces threads that end inside lanes`() {
    let pool = Pool.own(width: 1, threads: 1)
    let wakeUp = fill(pool, count: 1)
    let ended = Latch(20)
    for _ in 0..<20 {
      pool.submit(.lanes) {
        ended.open()
        pthread_exit(nil)
      }
    }
    #expect(ended.wait())
    #expect(run(lanes: 1, on: pool))
    wakeUp.open()
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `gives an item a thread while a lane in the reserve waits for it`() {
    let pool = Pool.own(width: 2, threads: 1, keepAliveNanoseconds: 2_000_000)
    let wakeUp = fill(pool, count: 1)
    let (waits, signal, ended) = (Latch(), Latch(), Latch())
    pool.submit(.lanes) {
      Blocking.announced(currentThread()) {
        waits.open()
        _ = signal.wait()
      }
      ended.open()
    }
    #expect(waits.wait())
    wakeUp.open()
    // The thread that took the first item has ended; only that of the lane is left.
    let one = PoolState(rawValue: PoolState.oneThread)
    #expect(eventually { pool.state.load(ordering: .relaxed) == one })
    pool.submit { signal.open() }
    #expect(ended.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `runs a lane that items wait for while other lanes hold the reserve`() {
    let pool = Pool.own(width: 2, threads: 8, keepAliveNanoseconds: 2_000_000)
    let wakeUp = fill(pool, count: 8)
    let reserve = pool.configuration.maxReserve
    let (held, release) = (Latch(reserve), Latch())
    for _ in 0..<reserve {
      pool.submit(.lanes) {
        Blocking.announced(currentThread()) {
          held.open()
          _ = release.wait()
        }
      }
    }
    #expect(held.wait())
    wakeUp.open()
    // The threads that took the items have ended; those that come share the limit with the lanes.
    let lanesOnly = PoolState(rawValue: UInt64(reserve) * PoolState.oneThread)
    #expect(eventually { pool.state.load(ordering: .relaxed) == lanesOnly })
    let ended = Latch(64)
    for _ in 0..<64 {
      pool.submit {
        let ran = Latch()
        pool.submit(.lanes) { ran.open() }
        Blocking.announced(currentThread()) { if ran.wait() { ended.open() } }
      }
    }
    #expect(ended.wait())
    release.open()
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `serves a lane that the monitor sends while the last thread computes`() {
    let pool = Pool.own(width: 1, threads: 1, isWatched: false)
    let (begun, isOver, ran) = (Latch(), Latch(), Latch())
    pool.submit {
      begun.open()
      spin { isOver.isOpen }
    }
    #expect(begun.wait())
    pool.submit(.lanes) { ran.open() }
    #expect(!ran.isOpen)
    #expect(pool.sendOne(for: .lanes, maxThreads: 1))
    #expect(ran.wait())
    isOver.open()
    #expect(pool.faultsAtRest() == [])
  }
}
