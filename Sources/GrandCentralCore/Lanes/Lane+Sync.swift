// Room: Lanes/Lane+Sync. A thread enters a lane, runs its closure itself, and leaves.
// Idle: one exchange in, one out, inlined into the caller. Else, in this order:
//   spin    a few hundred nanoseconds: most holders are gone by then
//   sleep   on the word, if a sync() holds the lane and nothing is queued, as on a mutex; whoever
//           comes first gets it. A thread that lost three times gets in line.
//   line    a node on the lane's list, in order; the owner hands the lane to this thread by name
// With a target that is a lane, entering means to hold the whole hierarchy up to the root, innermost
// first; leaving goes the other way. A hierarchy that ends in the main queue is entered by sending
// the closure to the main thread instead.
import CLinux

extension Lane {
  /// Takes an idle lane whose target is a root. `token` is what its word becomes: `syncToken`, or locked
  /// for a barrier.
  @inlinable @inline(__always)
  final func enterIdle(_ thread: ThreadContext, as token: LaneState) -> Bool {
    // acquiring: pairs with the releasing exchange of the last to leave.
    let (won, _) = state.compareExchange(
      expected: LaneState(rawValue: 0), desired: token,
      successOrdering: .acquiring, failureOrdering: .relaxed)
    if won && token.rawValue == LaneState.locked {
      owner.store(thread.ownerWord, ordering: .releasing)
    }
    return won
  }

  /// Leaves a lane that enterIdle() or enterSlowly() took with this token.
  @inlinable @inline(__always)
  final func leave(_ thread: ThreadContext, as token: LaneState) {
    if token.rawValue == LaneState.locked { owner.store(0, ordering: .relaxed) }
    // releasing: pairs with the acquiring exchange of the next to come.
    let (won, _) = state.compareExchange(
      expected: token, desired: LaneState(rawValue: 0),
      successOrdering: .releasing, failureOrdering: .relaxed)
    if !won { leaveSlowly(thread, barrier: token.rawValue == LaneState.locked) }
  }

  /// Enters the lane and its targets, as a barrier or not, however long it takes. False: the hierarchy
  /// ends in the main queue and this is another thread; all but that is held.
  @usableFromInline @inline(never)
  final func enterSlowly(_ thread: ThreadContext, barrier: Bool = false) -> Bool {
    switch kind {
    case .root: return true
    case .bound:
      if isBoundTo(thread) { failSelfSync(on: thread) }
      return false
    case .serial, .concurrent:
      let exclusive = kind == .serial || barrier
      if !enterAtOnce(thread, exclusive) { enter(thread, exclusive: exclusive) }
      return withTarget { $0.kind == .root || $0.enterSlowly(thread) }
    }
  }

  @usableFromInline @inline(never)
  final func leaveSlowly(_ thread: ThreadContext, barrier: Bool = false) {
    guard kind == .serial || kind == .concurrent else { return }
    withTarget { if $0.kind != .root { $0.leaveSlowly(thread) } }
    let exclusive = kind == .serial || barrier
    if leaveAtOnce(thread, exclusive) { return }
    if exclusive {
      leaveExclusive(thread)
    } else {
      leaveShared(thread)
    }
  }

  /// Holds the lane alone for a moment, without those that it targets, and calls `body`. False: it was not idle.
  /// `body` calls nothing of the client's.
  final func holdIfIdle(on thread: ThreadContext, _ body: () -> Void) -> Bool {
    guard enterAtOnce(thread, true) else { return false }
    body()
    if !leaveAtOnce(thread, true) { leaveExclusive(thread) }
    return true
  }

  // MARK: One lane that nobody else wants

  @inline(__always)
  private final func token(_ exclusive: Bool) -> UInt64 {
    exclusive ? LaneState.locked : LaneState.oneRunning
  }

  /// Enters an idle lane.
  @inline(__always)
  private final func enterAtOnce(_ thread: ThreadContext, _ exclusive: Bool) -> Bool {
    let seen = state.load(ordering: .relaxed)
    guard seen.rawValue & ~LaneState.targeted == 0 else { return false }
    // acquiring: as in enter().
    let (won, _) = state.compareExchange(
      expected: seen, desired: LaneState(rawValue: seen.rawValue | token(exclusive)),
      successOrdering: .acquiring, failureOrdering: .relaxed)
    if won && exclusive { owner.store(thread.ownerWord, ordering: .releasing) }
    return won
  }

  /// Leaves a lane that nobody has come to meanwhile.
  @inline(__always)
  private final func leaveAtOnce(_ thread: ThreadContext, _ exclusive: Bool) -> Bool {
    if exclusive { owner.store(0, ordering: .relaxed) }
    let seen = state.load(ordering: .relaxed)
    guard seen.rawValue & ~LaneState.targeted == token(exclusive) else { return false }
    // releasing: as in leaveExclusive() and leaveShared().
    let (won, _) = state.compareExchange(
      expected: seen, desired: LaneState(rawValue: seen.rawValue & LaneState.targeted),
      successOrdering: .releasing, failureOrdering: .relaxed)
    if won && Standing.mayBeRaised(thread) { Self.settle(thread) }
    return won
  }

  // MARK: One lane in

  private final func enter(_ thread: ThreadContext, exclusive: Bool) {
    if isClosed(by: thread, exclusive: exclusive) { failSelfSync(on: thread) }
    // acquiring, here and wherever the word is looked at again: the width that it goes by.
    var seen = state.load(ordering: .acquiring)
    var spins = 0
    var losses = 0
    while true {
      if let next = seen.entered(exclusive: exclusive, width: widthNow) {
        // acquiring: pairs with the releasing exchange of the last to leave.
        let desired = losses > 0 ? next.withSleepers(exclusive: exclusive) : next
        let (won, now) = state.weakCompareExchange(
          expected: seen, desired: desired, successOrdering: .acquiring,
          failureOrdering: .acquiring)
        if won { break }
        seen = now
        continue
      }
      if spins < Tuning.syncSpins && !seen.isSuspended && !seen.isBound {
        spins += 1
        spinHint()
        seen = state.load(ordering: .acquiring)
        continue
      }
      guard losses < Tuning.mostLosses, let asleep = seen.fellAsleep(), !isOutranked(by: thread)
      else {
        // A woken sleeper was woken on behalf of all of them. If it does not take the lane, it passes
        // the wake-up on, or those it leaves behind sleep for ever.
        if losses > 0 { futexWake(lowHalfOf: state, count: .max) }
        if waitInLine(thread, exclusive: exclusive) {
          if exclusive { beginAsOwner(thread) }
          return
        }
        seen = state.load(ordering: .acquiring)
        continue
      }
      if !seen.hasSleepers {
        // relaxed: the futex call compares the word again.
        let (won, now) = state.weakCompareExchange(
          expected: seen, desired: asleep, successOrdering: .relaxed,
          failureOrdering: .acquiring)
        guard won else {
          seen = now
          continue
        }
      }
      losses += 1
      sleepOnWord(thread, while: asleep)
      seen = state.load(ordering: .acquiring)
    }
    if exclusive { owner.store(thread.ownerWord, ordering: .releasing) }
  }

  /// The lane was handed to this thread, which may have others behind it in line.
  private final func beginAsOwner(_ thread: ThreadContext) {
    owner.store(thread.ownerWord, ordering: .releasing)
    // A change, though nothing changes: a raiser either comes first and is seen here, or sees the owner.
    let seen = state.set(0)
    if UInt32(seen.urgency.rawValue) > thread.pointee.adopted, Overrides.areResolved {
      Self.settle(thread, atLeast: seen.urgency)
    }
  }

  private final func sleepOnWord(_ thread: ThreadContext, while asleep: LaneState) {
    // Not granted: WaitGraph asks.
    Parker.prepare(thread)
    thread.shared.isServed.store(false, ordering: .relaxed)
    let known = Standing.ofWaiter(thread)
    Standing.waiting(thread, for: self, at: known) {
      sleepOnWordAnnounced(thread, while: asleep)
    }
  }

  private final func sleepOnWordAnnounced(_ thread: ThreadContext, while asleep: LaneState) {
    Blocking.announced(thread) {
      // A lane held for long may be held for ever: look for a cycle once, then sleep in peace.
      let deadline = Deadline.monotonic(
        nanoseconds: Clock.monotonicNanoseconds() + Tuning.deadlockSuspicionNanoseconds)
      if futexWait(lowHalfOf: state, while: asleep.lowHalf, until: deadline) == .timedOut {
        WaitGraph.registered(thread, waitingFor: self) {
          _ = futexWait(lowHalfOf: state, while: asleep.lowHalf)
        }
      }
    }
  }

  /// Gets in line and waits for the lane to be handed over. False: the line was gone when this thread
  /// came to it; try again.
  private final func waitInLine(_ thread: ThreadContext, exclusive: Bool) -> Bool {
    let node = NodeCache.take(thread)
    node.context = UnsafeMutableRawPointer(thread)
    let band = Standing.ofWaiter(thread)
    var traits = WorkTraits(qos: PackedQoS(band: band), barrier: exclusive)
    traits.formUnion(.waiter)
    node.traits = traits
    Parker.prepare(thread)
    thread.shared.isServed.store(false, ordering: .relaxed)
    // acquiring: as in push().
    var seen = state.load(ordering: .acquiring)
    while true {
      let width = widthNow
      if seen.entered(exclusive: exclusive, width: width) != nil {
        NodeCache.put(node, thread)
        return false
      }
      // Never admitted: an item that may pass could have entered.
      let (next, action) = seen.pushed(
        node.raw, exclusive: exclusive, urgency: band, width: width)
      node.next = seen.pending.map(WorkNode.init)
      // sequentiallyConsistent: as in push().
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .sequentiallyConsistent,
        failureOrdering: .acquiring)
      guard won else {
        seen = now
        continue
      }
      invariant(
        action == .queued || action == .raised,
        "A waiter found lane '\(laneLabel)' idle with work queued.")
      if action == .raised { raise(next, from: thread) }
      break
    }
    awaitGrant(thread, at: band)
    return true
  }

  /// Waits until some owner grants this thread's node on this lane. `band`: what the node asks.
  final func awaitGrant(_ thread: ThreadContext, at band: Band) {
    for _ in 0..<Tuning.grantSpins {
      if Parker.isGranted(thread) { return }
      spinHint()
    }
    Standing.waiting(thread, for: self, at: band) {
      Blocking.announced(thread) {
        let deadline = Deadline.monotonic(
          nanoseconds: Clock.monotonicNanoseconds() + Tuning.deadlockSuspicionNanoseconds)
        if !Parker.sleep(thread, until: deadline) {
          WaitGraph.registered(thread, waitingFor: self) { _ = Parker.sleep(thread) }
        }
      }
    }
  }

  // MARK: One lane out

  private final func leaveExclusive(_ thread: ThreadContext) {
    owner.store(0, ordering: .relaxed)
    var seen = state.load(ordering: .relaxed)
    while true {
      let (next, owns, wake) = seen.leftExclusive(isSerial: kind == .serial)
      // releasing: what the closure wrote, for the next to come. acquiring: with `owns`, the nodes
      // that were queued.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      guard won else {
        seen = now
        continue
      }
      switch wake {
      case .nothing: break
      case .wakeOne: futexWake(lowHalfOf: state)
      case .wakeAll: futexWake(lowHalfOf: state, count: .max)
      }
      // Taken back as soon as nobody can raise this thread for the lane any more.
      Standing.noteEnd(of: seen.urgency, on: thread)
      if Standing.mayBeRaised(thread) { Self.settle(thread) }
      if owns { advance(on: thread) }
      return
    }
  }

  final func leaveShared(_ thread: ThreadContext) {
    var seen = state.load(ordering: .relaxed)
    while true {
      let (next, action) = seen.leftShared()
      // releasing: for the barrier that comes next. acquiring: with .advance, the private list.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      guard won else {
        seen = now
        continue
      }
      switch action {
      case .nothing: break
      case .advance: advance(on: thread)
      case .releaseSelf: Unmanaged.passUnretained(self).release()
      }
      return
    }
  }

  /// Runs an item that was counted as running, and counts it off.
  final func runAdmitted(_ node: WorkNode, on thread: ThreadContext) {
    node.traits.subtract(.carried)
    let outerWorkplace = thread.workplace
    thread.enterWorkplace(UInt(bitPattern: address))
    withFrame(thread, as: .counted) {
      showLabel(on: thread)
      thread.pointee.qos = node.traits.qos.rawValue
      node.run(on: thread)
    }
    // Before the lane is left, which may end it.
    thread.setWorkplace(outerWorkplace)
    Self.showOuterLabel(on: thread)
    leaveShared(thread)
  }

  /// Marks the thread as working on this lane while `body` runs.
  final func withFrame(
    _ thread: ThreadContext, as kind: FrameKind = .entered, _ body: () -> Void
  ) {
    let outer = thread.pointee.frame
    var frame = gc_frame(previous: kind.marked(outer), queue: address)
    // SAFETY: the frame is taken off the thread before it leaves the stack.
    withUnsafeMutablePointer(to: &frame) { frame in
      thread.pointee.frame = UnsafeMutableRawPointer(frame)
      body()
      thread.pointee.frame = outer
    }
  }
}
