// Lanes whose items sleep unannounced: contract row T3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Lanes that rest") struct RestingLanesTests {
  private static let start: UInt64 = 1 << 40
  private static let look: UInt64 = 1_000_000

  @Test func `are remembered at their highest number, for one to two windows`() {
    var lanes = RestingLanes()
    lanes.note(resting: 3, left: 0, at: Self.start)
    #expect(lanes.count(width: 2) == 3)
    // Those that have left beside others that rest rested too.
    lanes.note(resting: 2, left: 4, at: Self.start + Self.look)
    #expect(lanes.count(width: 2) == 6)
    let window = RestingLanes.windowNanoseconds
    for time in stride(from: Self.start, to: Self.start + 2 * window, by: Int(Self.look)) {
      lanes.note(resting: 1, left: 0, at: time)
      #expect(lanes.count(width: 2) == 6)
    }
    lanes.note(resting: 1, left: 0, at: Self.start + 2 * window)
    #expect(lanes.count(width: 2) == 1)
  }

  @Test func `are forgotten while the monitor makes no look`() {
    var lanes = RestingLanes()
    lanes.note(resting: 3, left: 0, at: Self.start)
    lanes.note(resting: 0, left: 0, at: Self.start + 2 * RestingLanes.windowNanoseconds)
    #expect(lanes.count(width: 2) == 0)
  }

  @Test func `are not suspected where lanes end without a rest`() {
    var lanes = RestingLanes()
    lanes.note(resting: 0, left: 8, at: Self.start)
    #expect(lanes.count(width: 2) == 0)
    lanes.note(resting: 1, left: 100, at: Self.start + Self.look)
    #expect(lanes.count(width: 2) == 3)
  }

  @Test func `count while they begin to rest, and not while they sleep on`() {
    var policy = GrowthPolicy(
      limits: GrowthPolicy.Limits(softThreads: 8, softThreadsForLanes: 8, maxThreads: 8),
      firstThreads: 4)
    var record = GrowthPolicy.Record()
    var isCounted = true
    let found = (0..<4).map { _ in
      policy.begin()
      let sight = GrowthPolicy.Sight(
        isCounted: isCounted, isInLane: true, progress: 1, used: 0, elapsed: Self.look)
      let verdict = policy.see(sight, &record) { .asleep }
      if verdict == .stopCounting { isCounted = false }
      return policy.look.restingLanes
    }
    #expect(found == [1, 1, 0, 0])
  }

  @Test func `count up to a limit`() {
    var lanes = RestingLanes()
    lanes.note(resting: 1000, left: 0, at: Self.start)
    #expect(lanes.count(width: 2) == 32)
    #expect(lanes.count(width: 64) == 512)
  }

  /// Without a monitor, only the submitters can bring them their threads.
  @Test(arguments: [true, false])
  func `get their threads from those that submit`(fromOutside: Bool) {
    let pool = Pool.own(width: 2, threads: 16, isWatched: false)
    let count = 8
    pool.restingLanes.store(count, ordering: .relaxed)
    for _ in 1...20 {
      let (together, ended) = (Latch(count), Latch(count))
      let submit: @Sendable () -> Void = {
        for _ in 0..<count {
          pool.submit(.lanes) {
            together.open()
            if together.wait() { ended.open() }
          }
        }
      }
      if fromOutside { submit() } else { pool.submit { submit() } }
      #expect(ended.wait())
    }
    #expect(pool.state.load(ordering: .relaxed).threads <= count + pool.firstThreads)
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `leave the items of other queues to the allowance`() {
    let pool = Pool.own(width: 1, threads: 16, isWatched: false)
    pool.restingLanes.store(4, ordering: .relaxed)
    let (begun, isOver) = (Latch(), Latch())
    pool.submit {
      begun.open()
      _ = isOver.wait()
    }
    #expect(begun.wait())
    let item = Latch()
    pool.submit { item.open() }
    for _ in 1...20 {
      let lane = Latch()
      pool.submit(.lanes) { lane.open() }
      #expect(lane.wait())
    }
    #expect(!item.isOpen, "an item ran beyond the allowance")
    isOver.open()
    #expect(item.wait())
    #expect(pool.faultsAtRest() == [])
  }
}
