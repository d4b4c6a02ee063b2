// Workers that wait for the lock of the process's mappings: part of contract row T3.
import Testing

@testable import GrandCentralCore

@Suite("Waits for the lock of the mappings") struct MappingWaitTests {
  /// Others that compute hold that lock, so a further worker would wait for it, too.
  @Test func `counts a worker that waits for the lock of the mappings, unless that lasts`() {
    let limits = GrowthPolicy.Limits(softThreads: 2, softThreadsForLanes: 2, maxThreads: 2)
    var policy = GrowthPolicy(limits: limits, firstThreads: 2)
    var record = GrowthPolicy.Record()
    func verdict(progress: UInt32) -> GrowthPolicy.Verdict {
      policy.begin()
      let sight = GrowthPolicy.Sight(
        isCounted: true, isInLane: false, progress: progress, used: 0, elapsed: 1_000_000)
      return policy.see(sight, &record) { .inMappings }
    }
    let looks = Int(policy.thresholds.maxMappingWait / 1_000_000)
    for _ in 1...looks { #expect(verdict(progress: 1) == .keep) }
    for _ in 1...looks { #expect(verdict(progress: 2) == .keep, "another item") }
    #expect(verdict(progress: 2) == .stopCounting)
  }
}
