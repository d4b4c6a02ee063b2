// Lanes that wait while items hold all CPUs: contract row T3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Lanes behind items that compute") struct LanesBehindItemsTests {
  private static let look: UInt64 = 1_000_000

  /// The decision of a look that finds workers which compute in items, or in lanes, and a lane that
  /// has waited for so long. `begun`: how many nodes each worker has begun since the look before.
  /// `isUrgent`: the lane is of class default or above.
  private func decision(
    of policy: inout GrowthPolicy, workers: Int = 2, inLanes: Bool, begun: UInt32 = 1,
    oldestLane: UInt64, isUrgent: Bool = true
  ) -> GrowthPolicy.Decision {
    policy.begin()
    for _ in 0..<workers {
      var record = GrowthPolicy.Record()
      let sight = GrowthPolicy.Sight(
        isCounted: true, isInLane: inLanes, progress: begun, used: Self.look, elapsed: Self.look)
      _ = policy.see(sight, &record) { .runnable(sleeps: 0) }
    }
    return policy.decide(
      GrowthPolicy.Waiting(
        hasWork: true, oldestLane: oldestLane, oldestUrgentLane: isUrgent ? oldestLane : nil,
        itemsUntaken: nil),
      GrowthPolicy.Books(width: 2, threads: 4, idle: 2, active: workers), elapsed: Self.look)
  }

  private func policy() -> GrowthPolicy {
    GrowthPolicy(
      limits: GrowthPolicy.Limits(softThreads: 8, softThreadsForLanes: 8, maxThreads: 8),
      firstThreads: 4)
  }

  @Test func `are noticed after one has waited, and only those of class default or above`() {
    var policy = policy()
    let wait = policy.thresholds.maxLaneWait
    let early = decision(of: &policy, inLanes: false, oldestLane: wait - 1)
    let late = decision(of: &policy, inLanes: false, oldestLane: wait)
    #expect(!early.lanesWaitBehindItems && late.lanesWaitBehindItems)
    let beside = decision(of: &policy, workers: 1, inLanes: false, oldestLane: wait)
    #expect(!beside.lanesWaitBehindItems, "a CPU is free")
    let low = decision(of: &policy, inLanes: false, oldestLane: wait, isUrgent: false)
    #expect(!low.lanesWaitBehindItems)
    let short = UInt32(Self.look / policy.thresholds.longNode)
    for (begun, isLong) in [(short, true), (short + 1, false)] {
      for inLanes in [true, false] {
        let behind = decision(of: &policy, inLanes: inLanes, begun: begun, oldestLane: wait)
        #expect(behind.lanesWaitBehindItems == isLong, "\(begun) items in a look")
        #expect(behind.areLanesLong == (inLanes && isLong))
      }
    }
  }

  @Test func `items stay short or long while their worker waits for a CPU`() {
    var policy = policy()
    var record = GrowthPolicy.Record()
    func look(begun: UInt32, used: UInt64) {
      policy.begin()
      let sight = GrowthPolicy.Sight(
        isCounted: true, isInLane: false, progress: record.progress &+ begun, used: used,
        elapsed: Self.look)
      _ = policy.see(sight, &record) { .runnable(sleeps: 0) }
    }
    for (begun, isLong) in [(UInt32(1), true), (100, false), (1, true)] {
      look(begun: begun, used: Self.look)
      #expect(record.hasLongNodes == isLong)
      look(begun: 0, used: 0)
      #expect(record.hasLongNodes == isLong)
    }
  }

  @Test func `may have three times the width for a second`() {
    var lanes = LanesBehindItems()
    lanes.note(false, at: 1)
    #expect(lanes.count(width: 4, at: 1) == 0)
    lanes.note(true, at: 1)
    lanes.note(false, at: 2)
    #expect(lanes.count(width: 4, at: LanesBehindItems.nanoseconds) == 12)
    #expect(lanes.count(width: 4, at: 1 + LanesBehindItems.nanoseconds) == 0)
  }

  @Test(arguments: Band.allCases)
  func `are of class default or above`(band: Band) {
    let pool = Pool.own(width: 2, threads: 4, isWatched: false)
    pool.lanesBehindItems.store(2, ordering: .relaxed)
    #expect(pool.lanesAtOnce(for: band) == (band >= .default ? 2 : 0))
  }

  /// Without a monitor, only a submitter, or a worker that falls asleep, can bring them an idle
  /// worker.
  @Test(arguments: [true, false])
  func `get an idle worker at once`(isHandedOver: Bool) throws {
    let isOver = Latch()
    let pool = Pool.occupied(by: .items, until: isOver)
    #expect(pool.makeSecondThread())
    pool.lanesBehindItems.store(1, ordering: .relaxed)
    let item = Latch()
    pool.submit { item.open() }
    for _ in 1...20 {
      #expect(eventually { pool.state.load(ordering: .relaxed).idle == 1 })
      let lane = Latch()
      if isHandedOver {
        pool.submit(.lanes) { lane.open() }
      } else {
        pool.submitBesideSearch(.lanes) { lane.open() }
      }
      try #require(lane.wait())
    }
    #expect(!item.isOpen, "an item ran beyond the allowance")
    isOver.open()
    #expect(item.wait())
    #expect(pool.faultsAtRest() == [])
  }
}
