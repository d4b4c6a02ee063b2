// How many nodes a worker takes at once, and the order in which nodes then begin.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The size of a chunk") struct ChunkSizeTests {
  /// The sizes of chunks whose nodes take so long.
  private func sizes(_ count: Int, nanoseconds: Int, width: Int = 2) -> [Int] {
    var (size, now, pick) = (ChunkSize(), UInt64(1), UInt32(0))
    return (0..<count).map { _ in
      let next = size.next(at: now, pick: pick, width: width)
      size.took(next, of: next, at: now, pick: pick)
      now += UInt64(next * nanoseconds)
      pick &+= UInt32(next)
      return next
    }
  }

  @Test(arguments: [
    (50, [1, 2, 4, 8, 16, 32, 64, 64]), (1_000, [1, 2, 4, 8, 16, 20, 20, 20]),
    (5_000, [1, 2, 4, 4, 4, 4, 4, 4]), (15_000, [1, 1, 1, 1, 1, 1, 1, 1]),
    (50_000, [1, 1, 1, 1, 1, 1, 1, 1]),
  ])
  func `follows what nodes have taken`(nanoseconds: Int, expected: [Int]) {
    #expect(sizes(8, nanoseconds: nanoseconds) == expected)
  }

  @Test func `is not limited for short nodes where there are many CPUs`() {
    let whole = [1, 2, 4, 8, 16, 32, 64, 64]
    #expect(sizes(8, nanoseconds: 41_900, width: 16) == whole)
    #expect(sizes(8, nanoseconds: 42_100, width: 16) == [1, 1, 1, 1, 1, 1, 1, 1])
    #expect(sizes(8, nanoseconds: 5_900, width: 4) == whole)
  }

  @Test func `shrinks at once, and keeps its size while few nodes come`() {
    var size = ChunkSize(64)
    #expect(size.next(at: 1, pick: 0, width: 2) == 64)
    size.took(1, of: 64, at: 1, pick: 0)
    #expect(size.next(at: 101, pick: 1, width: 2) == 64)
    size.took(64, of: 64, at: 101, pick: 1)
    #expect(size.next(at: 101 + 64 * 10_000, pick: 65, width: 2) == 2)
  }

  @Test func `counts nodes of other origin as well`() {
    var size = ChunkSize(64)
    size.took(64, of: 64, at: 1, pick: 0)
    // 640 nodes of a microsecond.
    #expect(size.next(at: 640_001, pick: 640, width: 2) == 20)
  }

  @Test func `begins small after a sleep`() {
    var size = ChunkSize(64)
    size.took(64, of: 64, at: 1, pick: 0)
    size.slept()
    #expect(size.next(at: 1_000_000, pick: 64, width: 2) == 2)
  }

  /// Short items, which come in chunks. A monitor could make the injector overdue.
  @Test func `leaves the order to one worker`() {
    let gate = Latch()
    let pool = Pool.occupied(by: .items, until: gate, threads: 1)
    let order = Log<Int>()
    for number in 0..<5000 { pool.submit { order.append(number) } }
    gate.open()
    #expect(order.waitForCount(5000))
    #expect(order.all == Array(0..<5000))
    #expect(pool.faultsAtRest() == [])
  }

  /// Two workers, and longer items: a worker that begins one has the oldest. It notes it a moment
  /// later, and the system may stop it before that.
  @Test(arguments: [false, true])
  func `leaves longer items in order on two workers`(fromAnItem: Bool) {
    let isInOrder = eventually {
      let pool = Pool.own(width: 2, threads: 2, isWatched: false)
      let order = Log<Int>()
      let submit: @Sendable () -> Void = {
        for number in 0..<100 {
          pool.submit {
            order.append(number)
            let end = monotonicSeconds() + 0.0002
            spin { monotonicSeconds() >= end }
          }
        }
      }
      if fromAnItem { pool.submit { submit() } } else { submit() }
      #expect(order.waitForCount(100))
      return order.all.enumerated().allSatisfy { abs($0.offset - $0.element) <= 2 }
    }
    #expect(isInOrder)
  }
}
