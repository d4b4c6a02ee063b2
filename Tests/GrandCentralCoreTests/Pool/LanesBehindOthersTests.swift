// Lanes that wait while items, or other programs, hold the CPUs: contract row T3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Lanes behind others that use the CPUs") struct LanesBehindOthersTests {
  private static let look: UInt64 = 1_000_000

  /// The decision of a look that finds workers which compute in items, or in lanes, and a lane that
  /// has waited for so long. `begun`: how many nodes each worker has begun since the look before.
  /// `isUrgent`: the lane is of class default or above. `usedPerSecond`: see `Books`.
  private func decision(
    of policy: inout GrowthPolicy, workers: Int = 2, inLanes: Bool, begun: UInt32 = 1,
    oldestLane: UInt64, isUrgent: Bool = true, usedPerSecond: UInt64? = nil,
    isQuota: Bool = false
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
      GrowthPolicy.Books(
        width: 2, threads: 4, idle: 2, active: workers, usedPerSecond: usedPerSecond,
        isQuota: isQuota), elapsed: Self.look)
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
    #expect(early.lanesBehindOthers == 0 && late.lanesBehindOthers == 6)
    let beside = decision(of: &policy, workers: 1, inLanes: false, oldestLane: wait)
    #expect(beside.lanesBehindOthers == 0, "a CPU is free")
    let low = decision(of: &policy, inLanes: false, oldestLane: wait, isUrgent: false)
    #expect(low.lanesBehindOthers == 0)
    let short = UInt32(Self.look / policy.thresholds.longNode)
    for (begun, isLong) in [(short, true), (short + 1, false)] {
      for inLanes in [true, false] {
        let behind = decision(of: &policy, inLanes: inLanes, begun: begun, oldestLane: wait)
        #expect((behind.lanesBehindOthers > 0) == isLong, "\(begun) items in a look")
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
    var lanes = LanesBehindOthers()
    lanes.note(0, at: 1)
    #expect(lanes.count(width: 4, at: 1) == 0)
    lanes.note(16, at: 1)
    lanes.note(5, at: 2)
    lanes.note(0, at: 3)
    #expect(lanes.count(width: 4, at: 1 + LanesBehindOthers.nanoseconds) == 12)
    #expect(lanes.count(width: 4, at: 2 + LanesBehindOthers.nanoseconds) == 0)
  }

  @Test func `may have fewer when lower numbers have followed for two windows`() {
    let second = LanesBehindOthers.nanoseconds
    var lanes = LanesBehindOthers()
    lanes.note(16, at: 1)
    for step in UInt64(1)...4 {
      lanes.note(5, at: step * second / 2)
      #expect(lanes.count(width: 4, at: step * second / 2) == 12, "\(step) half seconds later")
    }
    lanes.note(5, at: 1 + 3 * second)
    #expect(lanes.count(width: 4, at: 1 + 3 * second) == 5)
  }

  @Test func `do not take waits for the lock of the mappings for the CPUs of other programs`() {
    var policy = policy()
    policy.begin()
    var record = GrowthPolicy.Record()
    let sight = GrowthPolicy.Sight(
      isCounted: true, isInLane: true, progress: 1, used: 0, elapsed: Self.look)
    for _ in 1...2 { _ = policy.see(sight, &record) { .inMappings } }
    let wait = policy.thresholds.maxLaneWait
    let found = policy.decide(
      GrowthPolicy.Waiting(
        hasWork: true, oldestLane: wait, oldestUrgentLane: wait, itemsUntaken: nil),
      GrowthPolicy.Books(width: 2, threads: 4, idle: 2, active: 2, usedPerSecond: 0),
      elapsed: Self.look)
    #expect(found.lanesBehindOthers == 0)
  }

  @Test func `get two workers for each CPU that other programs use`() {
    var policy = policy()
    let wait = policy.thresholds.maxLaneWait
    let short = UInt32(Self.look)
    // The process leaves so much of two CPUs.
    for (left, workers) in [(49, 0), (51, 2), (100, 2), (110, 3), (140, 3)] {
      let found = decision(
        of: &policy, inLanes: true, begun: short, oldestLane: wait,
        usedPerSecond: UInt64(200 - left) * 10_000_000)
      #expect(found.lanesBehindOthers == workers, "\(left) hundredths of a CPU")
    }
    let half: UInt64 = 1_000_000_000
    let unknown = decision(of: &policy, inLanes: true, begun: short, oldestLane: wait)
    #expect(unknown.lanesBehindOthers == 0)
    let early = decision(
      of: &policy, inLanes: true, begun: short, oldestLane: wait - 1, usedPerSecond: half)
    #expect(early.lanesBehindOthers == 0)
    let low = decision(
      of: &policy, inLanes: true, begun: short, oldestLane: wait, isUrgent: false,
      usedPerSecond: half)
    #expect(low.lanesBehindOthers == 0)
    let single = decision(
      of: &policy, workers: 1, inLanes: true, begun: short, oldestLane: wait, usedPerSecond: half)
    #expect(single.lanesBehindOthers == 0, "a CPU is free")
    let throttled = decision(
      of: &policy, inLanes: true, begun: short, oldestLane: wait, usedPerSecond: half, isQuota: true
    )
    #expect(throttled.lanesBehindOthers == 0, "all threads wait for the quota")
  }

  @Test(arguments: Band.allCases)
  func `are of class default or above`(band: Band) {
    let pool = Pool.own(width: 2, threads: 4, isWatched: false)
    pool.lanesBehindOthers.store(2, ordering: .relaxed)
    #expect(pool.lanesAtOnce(for: band) == (band >= .default ? 2 : 0))
  }

  /// Without a monitor, only a submitter, or a worker that falls asleep, can bring them an idle
  /// worker.
  @Test(arguments: [true, false])
  func `get an idle worker at once`(isHandedOver: Bool) throws {
    let isOver = Latch()
    let pool = Pool.occupied(by: .items, until: isOver)
    #expect(pool.makeSecondThread())
    pool.lanesBehindOthers.store(1, ordering: .relaxed)
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
