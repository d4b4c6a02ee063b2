// What a worker takes after a lane has given way on it.
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
