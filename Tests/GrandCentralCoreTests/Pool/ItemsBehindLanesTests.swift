// Items that wait while long lanes hold all CPUs: contract row T3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Items behind lanes that compute") struct ItemsBehindLanesTests {
  private static let second = ItemsBehindLanes.nanoseconds

  @Test func `have workers for a second after one has waited beside long lanes`() {
    var items = ItemsBehindLanes()
    items.note(besideLongLanes: false, waits: true, isTaken: true, at: 1)
    items.note(besideLongLanes: true, waits: false, isTaken: true, at: 1)
    #expect(!items.isOn(at: 1))
    items.note(besideLongLanes: true, waits: true, isTaken: false, at: 1)
    #expect(items.isOn(at: Self.second) && !items.isOn(at: 1 + Self.second))
  }

  @Test func `have them longer while both continue`() {
    var items = ItemsBehindLanes()
    items.note(besideLongLanes: true, waits: true, isTaken: false, at: 1)
    items.note(besideLongLanes: true, waits: false, isTaken: false, at: 2)
    items.note(besideLongLanes: false, waits: false, isTaken: true, at: 3)
    #expect(!items.isOn(at: 1 + Self.second))
    items.note(besideLongLanes: true, waits: false, isTaken: true, at: 4)
    #expect(items.isOn(at: 3 + Self.second) && !items.isOn(at: 4 + Self.second))
    items.note(besideLongLanes: true, waits: false, isTaken: true, at: 4 + Self.second)
    #expect(!items.isOn(at: 4 + Self.second), "it had ended")
  }

  /// A pool whose only active worker is in a lane that ends with the latch.
  private func poolInLane(until isOver: Latch) -> Pool {
    let pool = Pool.occupied(by: .lanes, band: .userInitiated, until: isOver)
    pool.itemsBehindLanes.store(true, ordering: .relaxed)
    return pool
  }

  /// Without a monitor, only a submitter, or a worker that falls asleep, can bring them a worker.
  @Test(arguments: [true, false])
  func `get a worker at once, also in a lower class`(isHandedOver: Bool) throws {
    let isOver = Latch()
    let pool = poolInLane(until: isOver)
    for _ in 1...20 {
      // Each worker takes all that wait.
      let items = Latch(8)
      for _ in 1...8 {
        if isHandedOver {
          pool.submit { items.open() }
        } else {
          pool.submitBesideSearch(.items) { items.open() }
        }
      }
      try #require(items.wait())
      #expect(eventually { pool.state.load(ordering: .relaxed).active == 1 })
    }
    isOver.open()
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `get as many workers as the width`() {
    let isOver = Latch()
    let pool = poolInLane(until: isOver)
    let (first, ended) = (Latch(), Latch())
    pool.submit {
      first.open()
      _ = isOver.wait()
    }
    #expect(first.wait())
    pool.submit { ended.open() }
    pool.submit(band: .utility) {}
    #expect(!pool.mayTakeBehindLanes())
    #expect(!ended.isOpen, "two items at once, the width is 1")
    isOver.open()
    #expect(ended.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `get none in a class below default`() {
    let isOver = Latch()
    let pool = poolInLane(until: isOver)
    let (low, other) = (Latch(), Latch())
    pool.submit(band: .utility) { low.open() }
    pool.submit { other.open() }
    #expect(other.wait())
    #expect(eventually { pool.state.load(ordering: .relaxed).active == 1 })
    #expect(!low.isOpen)
    isOver.open()
    #expect(low.wait())
    #expect(pool.faultsAtRest() == [])
  }
}
