// Lanes that wait while items hold all CPUs: contract row T3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Lanes behind items that compute") struct LanesBehindItemsTests {
  private static let look: UInt64 = 1_000_000

  /// The decision of a look that finds two workers which compute in items, or in lanes, and a lane
  /// that has waited for so long.
  private func decision(
    of policy: inout GrowthPolicy, inLanes: Bool, oldestLane: UInt64?, elapsed: UInt64 = look
  ) -> GrowthPolicy.Decision {
    policy.begin()
    for _ in 0..<2 {
      var record = GrowthPolicy.Record()
      let sight = GrowthPolicy.Sight(
        isCounted: true, isInLane: inLanes, progress: 1, used: Self.look, elapsed: Self.look)
      _ = policy.see(sight, &record) { .runnable(sleeps: 0) }
    }
    return policy.decide(
      GrowthPolicy.Waiting(hasWork: true, oldestLane: oldestLane, itemsUntaken: nil),
      GrowthPolicy.Books(width: 2, threads: 4, idle: 2, active: 2), elapsed: elapsed)
  }

  private func policy() -> GrowthPolicy {
    GrowthPolicy(
      limits: GrowthPolicy.Limits(softThreads: 8, softThreadsForLanes: 8, maxThreads: 8),
      firstThreads: 4)
  }

  @Test func `may overcommit for a second after one has waited`() {
    var policy = policy()
    let patience = policy.thresholds.maxLaneWait
    let early = decision(of: &policy, inLanes: false, oldestLane: patience - 1)
    #expect(!early.lanesOvercommit)
    let late = decision(of: &policy, inLanes: false, oldestLane: patience)
    #expect(late.lanesOvercommit)
    let period = policy.thresholds.overcommitting
    let last = decision(of: &policy, inLanes: false, oldestLane: nil, elapsed: period - 1)
    #expect(last.lanesOvercommit)
    let over = decision(of: &policy, inLanes: false, oldestLane: nil, elapsed: 1)
    #expect(!over.lanesOvercommit)
  }

  @Test func `may not where lanes compute in turn`() {
    var policy = policy()
    let wait = policy.thresholds.maxLaneWait
    #expect(!decision(of: &policy, inLanes: true, oldestLane: wait).lanesOvercommit)
  }

  /// Without a monitor, only a submitter, or a worker that falls asleep, can bring them an idle
  /// worker.
  @Test(arguments: [true, false])
  func `get an idle worker at once while they may overcommit`(isHandedOver: Bool) {
    let pool = Pool.own(width: 1, threads: 4, isWatched: false)
    let (begun, isOver) = (Latch(), Latch())
    pool.submit {
      begun.open()
      _ = isOver.wait()
    }
    #expect(begun.wait())
    // Makes the second thread.
    pool.restingLanes.store(1, ordering: .relaxed)
    let first = Latch()
    pool.submit(.lanes) { first.open() }
    #expect(first.wait())
    pool.restingLanes.store(0, ordering: .relaxed)
    pool.lanesOvercommit.store(true, ordering: .relaxed)
    let item = Latch()
    pool.submit { item.open() }
    for _ in 1...20 {
      #expect(eventually { pool.state.load(ordering: .relaxed).idle == 1 })
      let lane = Latch()
      if isHandedOver {
        pool.submit(.lanes) { lane.open() }
      } else {
        submitBesideSearch(to: pool) { lane.open() }
      }
      #expect(lane.wait())
    }
    #expect(!item.isOpen, "an item ran beyond the allowance")
    isOver.open()
    #expect(item.wait())
    #expect(pool.faultsAtRest() == [])
  }

  /// Submits a lane as a thread does that sees a searcher, which then stops.
  private func submitBesideSearch(to pool: Pool, _ work: @escaping @Sendable () -> Void) {
    let node = NodeCache.take(currentThread())
    node.putClosure(work)
    node.entry = WorkNode.closureEntry
    node.traits = WorkTraits(qos: PackedQoS(band: .default))
    let key = InjectorKey(kind: .lanes, band: .default)
    pool.withInjector(key) { $0.push(node) }
    pool.markWaiting(key)
    pool.wakeIfNeeded()
  }
}
