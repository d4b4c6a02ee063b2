import Testing

@testable import GrandCentralCore

/// A lane's word in a forked child, where only the forking thread exists.
@Suite("A lane's state word in a forked child") struct LaneForkTests {
  @Test(arguments: LaneWords.flags) func `forgets what others did`(flag: UInt64) {
    let seen = LaneState(
      flag | LaneState.locked | LaneState.held, running: 7, pending: LaneWords.queued)
    let kept = flag & (LaneState.suspended | LaneState.bound)
    #expect(
      seen.afterFork(isOwned: false, running: 0, targetsLane: false) == LaneState(rawValue: kept))
  }

  @Test func `derives the lane's kind of target from its target`() {
    for targetsLane in [false, true] {
      for seen in [LaneState(0), LaneState(LaneState.targeted)] {
        let next = seen.afterFork(isOwned: false, running: 0, targetsLane: targetsLane)
        #expect(next == LaneState(targetsLane ? LaneState.targeted : 0))
      }
    }
  }

  @Test func `keeps what the thread holds alone, without waiters`() {
    let sync = LaneState(LaneState.locked | LaneState.sleepers, pending: LaneWords.queued)
    #expect(
      sync.afterFork(isOwned: true, running: 0, targetsLane: false) == LaneState(LaneState.locked))
    let activation = LaneState(
      LaneState.locked | LaneState.held | LaneState.batch, pending: LaneWords.queued)
    #expect(
      activation.afterFork(isOwned: true, running: 0, targetsLane: false)
        == LaneState(LaneState.locked | LaneState.held))
  }

  @Test func `counts what the forking thread shares, and no other threads`() {
    let seen = LaneState(
      LaneState.held | LaneState.barrier, running: 9, pending: LaneWords.queued)
    #expect(
      seen.afterFork(isOwned: false, running: 2, targetsLane: true)
        == LaneState(LaneState.held | LaneState.targeted, running: 2))
  }

  @Test func `counts one worker in the pool, or none`() {
    #expect(PoolState.afterFork(isWorker: false, isSearching: false).rawValue == 0)
    let worker = PoolState.afterFork(isWorker: true, isSearching: false)
    #expect(worker.threads == 1 && worker.active == 1 && worker.searching == 0 && worker.idle == 0)
    #expect(PoolState.afterFork(isWorker: true, isSearching: true).searching == 1)
  }
}
