import Testing

@testable import GrandCentralCore

/// Each transition from the most important words; LaneStateInvariantTests covers all others.
@Suite("A lane's state word") struct LaneStateTests {
  private let idle = LaneState(0)
  private let node = LaneWords.arriving

  @Test func `keeps its parts apart`() {
    let word = LaneState(
      LaneState.locked | LaneState.held, running: 4095, pending: LaneWords.queued)
    #expect(word.isLocked && word.isHeld && word.hasWork && word.hasWorkOrOwner)
    #expect(word.running == 4095)
    #expect(word.pending == LaneWords.queued)
    #expect(!word.hasSleepers && !word.hasBatch && !word.isSuspended && !word.isBound)
    #expect(!word.awaitsBarrier)
    #expect(word.lowHalf == UInt32(truncatingIfNeeded: word.rawValue))
    #expect(LaneState(LaneState.batch).hasWork)
    #expect(!idle.hasWorkOrOwner && LaneState(LaneState.locked).hasWorkOrOwner)
    #expect(idle.pending == nil)
  }

  @Test func `gives each flag a bit of its own, outside the node's address`() {
    let union = LaneWords.flags.reduce(0, |)
    #expect(union.nonzeroBitCount == LaneWords.flags.count)
    let fields = [LaneState.pendingMask, LaneWords.runningMask, LaneState.urgencyMask]
    #expect(fields.allSatisfy { union & $0 == 0 })
    #expect(fields.reduce(union, |) == .max)
  }

  @Test func `sends an activation when work comes to an idle serial lane, and only then`() {
    let (first, action) = idle.pushed(node, exclusive: true)
    #expect(action == .schedule)
    #expect(first == LaneState(LaneState.locked | LaneState.held, pending: node))
    let (second, next) = first.pushed(LaneWords.queued, exclusive: true)
    #expect(next == .queued)
    #expect(second == LaneState(LaneState.locked | LaneState.held, pending: LaneWords.queued))
  }

  @Test func `passes shared nodes on and enters its own count once`() {
    let (one, first) = idle.pushed(node, exclusive: false)
    let (two, second) = one.pushed(node, exclusive: false)
    #expect(first == .admitted(retains: true) && second == .admitted(retains: false))
    #expect(two == LaneState(LaneState.held, running: 2))
  }

  @Test func `enters its own count for an item that runs while a reader is inside`() {
    let (word, action) = LaneState(0, running: 1).pushed(node, exclusive: false)
    #expect(action == .admitted(retains: true))
    #expect(word == LaneState(LaneState.held, running: 2))
  }

  @Test(
    arguments: [
      (LaneState(LaneState.locked), "a holder"),
      (LaneState(LaneState.suspended), "a suspension"),
      (LaneState(LaneState.batch, running: 1), "a private list"),
      (LaneState(0, running: 1, pending: LaneWords.queued), "a queue"),
      (LaneState(0, running: LaneState.defaultWidth), "as many as may run"),
    ])
  func `passes nothing on`(word: LaneState, ahead: String) {
    let (next, action) = word.pushed(node, exclusive: false)
    #expect(action == .queued, "\(ahead) is ahead")
    #expect(next.pending == node)
    #expect(word.entered(exclusive: false) == nil)
  }

  @Test func `waits for the last reader when a barrier is first in line`() {
    let (queued, action) = LaneState(LaneState.held, running: 2).pushed(node, exclusive: true)
    #expect(action == .queued && queued.awaitsBarrier)
    let (one, first) = queued.leftShared()
    #expect(first == .nothing && !one.isLocked && one.awaitsBarrier)
    let (none, last) = one.leftShared()
    #expect(last == .advance && none.isLocked && none.isHeld && !none.awaitsBarrier)
  }

  @Test func `does not mark a barrier that is second in line`() {
    let full = LaneState(LaneState.held, running: LaneState.defaultWidth)
    let (queued, _) = full.pushed(LaneWords.queued, exclusive: false)
    let (both, action) = queued.pushed(node, exclusive: true)
    #expect(action == .queued && !both.awaitsBarrier)
    #expect(both.leftShared().1 == .advance)
  }

  @Test func `leaves queued work to a later holder while too many are left`() {
    let full = LaneState(LaneState.held, running: 8, pending: node)
    let (seven, first) = full.leftShared(width: 7)
    #expect(first == .nothing && seven == LaneState(LaneState.held, running: 7, pending: node))
    #expect(seven.leftShared(width: 7).1 == .advance)
  }

  @Test func `admits one sync at a time, or readers together`() throws {
    let alone = try #require(idle.entered(exclusive: true))
    #expect(alone == LaneState(LaneState.locked))
    #expect(alone.entered(exclusive: true) == nil && alone.entered(exclusive: false) == nil)
    let one = try #require(idle.entered(exclusive: false))
    let two = try #require(one.entered(exclusive: false))
    #expect(two == LaneState(0, running: 2))
    #expect(two.entered(exclusive: true) == nil)
    #expect(LaneState(LaneState.bound).entered(exclusive: true) == nil)
    #expect(LaneState(LaneState.targeted).entered(exclusive: true) != nil)
  }

  @Test func `lets a new waiter sleep only on a sync with nothing queued`() {
    let held = LaneState(LaneState.locked)
    #expect(held.fellAsleep() == LaneState(LaneState.locked | LaneState.sleepers))
    #expect(idle.fellAsleep() == nil)
    #expect(LaneState(LaneState.locked | LaneState.held).fellAsleep() == nil)
    #expect(LaneState(LaneState.locked | LaneState.batch).fellAsleep() == nil)
    #expect(LaneState(LaneState.locked | LaneState.suspended).fellAsleep() == nil)
    #expect(LaneState(LaneState.locked | LaneState.bound).fellAsleep() == nil)
    #expect(LaneState(LaneState.locked, pending: node).fellAsleep() == nil)
  }

  @Test func `keeps the flag of those that still sleep when one of them takes the lane`() {
    let word = LaneState(LaneState.locked)
    #expect(word.withSleepers(exclusive: true).hasSleepers)
    #expect(LaneState(0, running: 1).withSleepers(exclusive: false) == LaneState(0, running: 1))
  }

  @Test func `releases itself when its last item leaves`() {
    let (one, first) = LaneState(LaneState.held, running: 2).leftShared()
    #expect(first == .nothing && one == LaneState(LaneState.held, running: 1))
    let (none, last) = one.leftShared()
    #expect(last == .releaseSelf && none == idle)
    #expect(LaneState(0, running: 1).leftShared() == (idle, .nothing))
  }

  @Test func `leaves the rest to its owner when an item ends`() {
    let word = LaneState(LaneState.locked | LaneState.held, running: 1, pending: node)
    #expect(
      word.leftShared()
        == (LaneState(LaneState.locked | LaneState.held, pending: node), .nothing))
  }

  @Test func `starts nothing while it is suspended, and continues at the last resume`() {
    let word = LaneState(LaneState.held | LaneState.suspended, running: 1, pending: node)
    let (left, action) = word.leftShared()
    #expect(action == .releaseSelf)
    #expect(left == LaneState(LaneState.suspended, pending: node))
    let (resumed, owns) = left.unsuspended()
    // `batch` is set, so that no thread falls asleep on an owner that is only reading its list.
    #expect(owns && resumed == LaneState(LaneState.locked | LaneState.batch, pending: node))
  }

  @Test func `wakes one sleeper of a serial lane and all of a concurrent one`() {
    let word = LaneState(LaneState.locked | LaneState.sleepers)
    #expect(word.leftExclusive(isSerial: true) == (idle, false, .wakeOne))
    #expect(word.leftExclusive(isSerial: false) == (idle, false, .wakeAll))
    #expect(LaneState(LaneState.locked).leftExclusive(isSerial: true) == (idle, false, .nothing))
  }

  @Test func `wakes all sleepers when work is queued, and stays with the leaver`() {
    let word = LaneState(LaneState.locked | LaneState.sleepers, pending: node)
    let (next, owns, wake) = word.leftExclusive(isSerial: true)
    #expect(next == LaneState(LaneState.locked | LaneState.batch, pending: node))
    #expect(owns && wake == .wakeAll)
  }

  @Test func `has no owner after a sync leaves it suspended with work`() {
    let word = LaneState(LaneState.locked | LaneState.suspended, pending: node)
    let (next, owns, _) = word.leftExclusive(isSerial: true)
    #expect(!owns && next == LaneState(LaneState.suspended, pending: node))
  }

  @Test func `leaves its own count when it is released with nothing running`() {
    let word = LaneState(LaneState.locked | LaneState.held | LaneState.batch)
    #expect(word.givenUp(hasBatch: false) == idle)
    let running = LaneState(LaneState.locked | LaneState.held, running: 1)
    #expect(running.givenUp(hasBatch: false) == LaneState(LaneState.held, running: 1))
    #expect(
      running.givenUp(hasBatch: true, awaitsBarrier: true)
        == LaneState(LaneState.held | LaneState.batch | LaneState.barrier, running: 1))
  }

  @Test func `stays suspended without an owner when it is released for a suspension`() {
    let word = LaneState(LaneState.locked | LaneState.held | LaneState.suspended)
    #expect(
      word.givenUp(hasBatch: true) == LaneState(LaneState.suspended | LaneState.batch))
  }

  @Test func `stays locked and leaves its own count when it is handed over`() {
    let word = LaneState(LaneState.locked | LaneState.held, pending: node)
    #expect(word.handedOver(hasBatch: false) == LaneState(LaneState.locked, pending: node))
    #expect(
      word.handedOver(hasBatch: true)
        == LaneState(LaneState.locked | LaneState.batch, pending: node))
  }

  @Test func `does not start a barrier while items run when a suspension ends`() {
    let flags = LaneState.held | LaneState.suspended | LaneState.barrier
    let (next, owns) = LaneState(flags, running: 1, pending: node).unsuspended()
    #expect(!owns && next.awaitsBarrier && !next.isSuspended)
    let (shared, ownsShared) = LaneState(
      LaneState.held | LaneState.suspended, running: 1, pending: node
    ).unsuspended()
    #expect(ownsShared && shared.isLocked)
    #expect(!LaneState(LaneState.suspended).unsuspended().owns)
  }

  @Test func `returns the word from before bits were set or cleared`() {
    let (locked, held, targeted) = (LaneState.locked, LaneState.held, LaneState.targeted)
    let word = Atomic(LaneState(locked))
    #expect(word.set(held | targeted) == LaneState(locked))
    #expect(word.clear(targeted) == LaneState(locked | held | targeted))
    #expect(word.load(ordering: .relaxed) == LaneState(locked | held))
  }

  @Test func `wakes its sleepers before it is boosted for a waiter`() throws {
    let sleeping = LaneState(LaneState.locked | LaneState.sleepers, pending: node)
    let (awake, first) = try #require(sleeping.waiterDidRise(to: .userInitiated))
    #expect(first == .roused && awake == LaneState(LaneState.locked, pending: node))
    let (raised, second) = try #require(awake.waiterDidRise(to: .userInitiated))
    #expect(second == .raised(raised) && raised.urgency == .userInitiated)
    #expect(raised.waiterDidRise(to: .userInitiated) == nil)
    #expect(idle.waiterDidRise(to: .userInitiated) == nil)
  }
}
