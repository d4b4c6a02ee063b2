// The number of workers for each class. Items compute, so that none is counted as asleep.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A pool that is full of one class") struct ClassWidthTests {
  private static let classes: [Band] = [
    .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  /// Items that compute until they are stopped.
  private final class Busy: Sendable {
    private let isOver = Number()
    let begun = Number()
    private let ended = Number()

    func begin(_ band: Band, kind: WorkKind = .items, in pool: Pool) {
      pool.submit(kind, band: band) { [self] in
        begun.add()
        spin { isOver.now > 0 }
        ended.add()
      }
    }

    func stop() -> Bool {
      isOver.add()
      return eventually { ended.now == begun.now }
    }
  }

  @Test(arguments: WorkKind.allCases, [1, 2])
  func `starts a thread for higher work at once`(_ kind: WorkKind, width: Int) {
    let pool = Pool.own(width: width, threads: 20)
    let low = Busy()
    for _ in 0..<width { low.begin(.utility, kind: kind, in: pool) }
    #expect(eventually { low.begun.now == width })
    let high = Latch()
    pool.submit(kind, band: .userInteractive) { high.open() }
    #expect(high.wait())
    #expect(low.stop())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `starts one for each class above`() {
    let pool = Pool.own(width: 1, threads: 20)
    let busy = Busy()
    for (number, band) in Self.classes.enumerated() {
      busy.begin(band, in: pool)
      #expect(eventually { busy.begun.now == number + 1 }, "\(band)")
    }
    #expect(busy.stop())
    #expect(pool.faultsAtRest() == [])
  }

  /// An item of a lower class submits work of a higher class.
  @Test func `starts one for higher work that its own items submit`() {
    let pool = Pool.own(width: 1, threads: 20)
    let inner = Latch()
    let outer = Latch()
    pool.submit(band: .background) {
      pool.submit(band: .default) { inner.open() }
      spin { inner.isOpen }
      outer.open()
    }
    #expect(outer.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test(arguments: [1, 2, 3])
  func `keeps that class to the width`(width: Int) {
    // Without a monitor: see OwnPoolTests.
    let pool = Pool.own(width: width, threads: 20, isWatched: false)
    let inside = Number()
    let done = Latch(60)
    for _ in 0..<60 {
      pool.submit(band: .userInteractive) {
        inside.add()
        let end = monotonicSeconds() + 0.0005
        spin { monotonicSeconds() >= end }
        inside.add(-1)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(inside.peak <= width)
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `holds others of its class until its item has ended`() {
    // No monitor: it makes room for others after an item has run for a second.
    let pool = Pool.own(width: 1, threads: 20, isWatched: false)
    let order = Log<Band>()
    let busy = Busy()
    busy.begin(.default, in: pool)
    #expect(eventually { busy.begun.now == 1 })
    let done = Latch(3)
    // These wait: the one worker that may be active is at work in their class.
    for band in [Band.default, .default, .default] {
      pool.submit(band: band) {
        order.append(band)
        done.open()
      }
    }
    #expect(order.count == 0)
    #expect(busy.stop())
    #expect(done.wait())
    #expect(order.count == 3)
    #expect(pool.faultsAtRest() == [])
  }

  /// No item of the higher class ends; the monitor starts workers for the lower classes.
  @Test(arguments: WorkKind.allCases, [1, 2])
  func `lets each lower class continue, however long the items are`(_ kind: WorkKind, width: Int) {
    let pool = Pool.own(width: width, threads: 20)
    let high = Busy()
    for _ in 0..<width { high.begin(.userInteractive, in: pool) }
    #expect(eventually { high.begun.now == width })
    let low = Log<Band>()
    for _ in 0..<2 {
      for band in Self.classes.dropLast() { pool.submit(kind, band: band) { low.append(band) } }
    }
    #expect(low.waitForCount(8), "\(low.all)")
    #expect(high.stop())
    #expect(pool.faultsAtRest() == [])
  }
}
