import Primitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The width of a pool") struct WidthTests {
  @Test func `follows what the machine allows while the pool runs`() {
    _ = Runtime.shared
    let pool = kept(
      Pool(
        Pool.Configuration(
          width: 1, readWidth: { 3 }, softThreads: 8, mostThreads: 8)))
    // A worker that goes idle reads the width.
    let isDone = TestSupport.Latch()
    pool.submit(.items, band: .default) { isDone.open() }
    #expect(isDone.wait())
    #expect(eventually { pool.width.load(ordering: .relaxed) == 3 })
    // Three items that wait for each other need all of it, at once.
    let meeting = TestSupport.Latch(3)
    for _ in 0..<3 {
      pool.submit(.items, band: .default) {
        meeting.open()
        _ = meeting.wait()
      }
    }
    #expect(meeting.wait())
  }

  @Test func `is what the environment fixes`() {
    let pool = kept(
      Pool(
        Pool.Configuration(width: 2, readWidth: nil, softThreads: 8, mostThreads: 8)))
    pool.refreshWidth()
    #expect(pool.width.load(ordering: .relaxed) == 2)
    #expect(pool.allowance.load(ordering: .relaxed) == 2)
  }
}
