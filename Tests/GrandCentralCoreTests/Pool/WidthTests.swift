// How many CPUs the pool uses: contract row T2.
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The width of a pool") struct WidthTests {
  @Test func `follows what the machine allows while the pool runs`() {
    _ = Runtime.shared
    let pool = kept(
      Pool(
        Pool.Configuration(
          width: 1, readWidth: { 3 }, softThreads: 8, maxThreads: 8)))
    // A worker that becomes idle reads the width.
    let isDone = TestSupport.Latch()
    pool.submit(.items, band: .default) { isDone.open() }
    #expect(isDone.wait())
    #expect(eventually { pool.width.load(ordering: .relaxed) == 3 })
    // Three items that wait for each other need the whole width at once.
    let meeting = TestSupport.Latch(3)
    for _ in 0..<3 {
      pool.submit(.items, band: .default) {
        meeting.open()
        _ = meeting.wait()
      }
    }
    #expect(meeting.wait())
  }

  @Test func `follows the CPU mask, and spinning with it, within what the quota allows`() {
    _ = Runtime.shared
    let cpus = Box<Int?>(8)
    let isAlone = Spin.isAlone
    defer { Spin.isAlone = isAlone }
    let pool = kept(
      Pool(
        Pool.Configuration(
          width: 8, readWidth: { 3 }, readMask: { cpus.value }, softThreads: 8, maxThreads: 8)))
    func follow(_ now: Int?) -> Int {
      cpus.value = now
      pool.lastMaskRead.store(0, ordering: .relaxed)
      pool.followMask()
      return pool.width.load(ordering: .relaxed)
    }
    // The pools of other tests also write `Spin.isAlone`, which belongs to the process.
    #expect(eventually { follow(1) == 1 && Spin.limit == 0 && Tuning.grantSpins == 0 })
    #expect(eventually { follow(6) == 6 && Spin.limit > 0 && Tuning.grantSpins > 0 })
    #expect(pool.allowance == 6)
    // A full look also reads the quota.
    cpus.value = 8
    pool.refreshWidth()
    #expect(pool.width.load(ordering: .relaxed) == 3)
    #expect(follow(5) == 3)
    #expect(follow(2) == 2)
    // An unreadable mask changes nothing.
    #expect(follow(nil) == 2)
    #expect(pool.allowance == 2)
  }

  @Test func `allows as many threads as it needs when the mask grows`() {
    _ = Runtime.shared
    let pool = kept(
      Pool(
        Pool.Configuration(
          width: 1, readWidth: { 1 }, readMask: { 5 }, softThreads: 64, maxThreads: 100)))
    #expect(pool.threadAllowance == 4)
    // The mask always had five CPUs, so the width of one is the quota, which is then lifted.
    #expect(pool.quotaWidth.load(ordering: .relaxed) == 1)
    pool.quotaWidth.store(.max, ordering: .relaxed)
    pool.followMask()
    #expect(pool.width.load(ordering: .relaxed) == 5)
    #expect(pool.threadAllowance == 12)
  }

  @Test func `is what the environment fixes`() {
    let pool = kept(
      Pool(
        Pool.Configuration(width: 2, readWidth: nil, softThreads: 8, maxThreads: 8)))
    pool.refreshWidth()
    #expect(pool.width.load(ordering: .relaxed) == 2)
    #expect(pool.allowance == 2)
  }
}
