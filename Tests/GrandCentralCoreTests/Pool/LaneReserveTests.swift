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
}
