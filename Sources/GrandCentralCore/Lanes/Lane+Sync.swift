// Room: Lanes/Lane+Sync. A thread enters a lane, runs its closure itself, and leaves.
// Uncontended: one exchange in and one out, inlined into the caller. Contended, in this order:
//   inside  a reader that holds the lane already passes at once: what waits may wait for it
//   spin    for up to a microsecond: most holders leave by then
//   sleep   on the word, if a sync() holds the lane and nothing is queued. As with a mutex, a
//           thread that arrives may take the free lane before a woken sleeper does (barging). A
//           thread that lost three times gets in line
//   line    a node on the lane's list, in order; the owner hands the lane to this thread
// The barging saves a wake-up for each hand-off; the line bounds how often a thread can lose.
// If the target is a lane, the thread enters every lane of the hierarchy up to the root, innermost
// first, and leaves in the opposite order. A hierarchy that ends in the main queue is different:
// the closure is sent to the main thread.
import CGrandCentralLinux

extension Lane {
  /// Takes an idle lane whose target is a root. `token` is the new word: `syncToken`, or locked for
  /// a barrier.
  @inlinable @inline(__always)
  final func enterIdle(_ thread: ThreadContext, as token: LaneState) -> Bool {
    // acquiring: pairs with the releasing exchange of the last holder that left.
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
    // releasing: pairs with the acquiring exchange of the next holder.
    let (won, _) = state.compareExchange(
      expected: token, desired: LaneState(rawValue: 0),
      successOrdering: .releasing, failureOrdering: .relaxed)
    if !won { leaveSlowly(thread, barrier: token.rawValue == LaneState.locked) }
  }

  /// Enters the lane and its targets, as a barrier or not, and waits as long as that takes. False:
  /// the hierarchy ends in the main queue and this is another thread; all lanes before the main
  /// queue are held.
  @usableFromInline @inline(never)
  final func enterSlowly(_ thread: ThreadContext, barrier: Bool) -> Bool {
    switch kind {
    case .root: return true
    case .bound:
      if isBoundTo(thread) { failSelfSync(on: thread) }
      return false
    case .serial, .concurrent:
      let exclusive = kind == .serial || barrier
      if !enterAtOnce(thread, exclusive) { enter(thread, exclusive: exclusive) }
      return withTarget { $0.kind == .root || $0.enterSlowly(thread, barrier: false) }
    }
  }

  @usableFromInline @inline(never)
  final func leaveSlowly(_ thread: ThreadContext, barrier: Bool) {
    guard kind == .serial || kind == .concurrent else { return }
    withTarget { if $0.kind != .root { $0.leaveSlowly(thread, barrier: false) } }
    let exclusive = kind == .serial || barrier
    if leaveAtOnce(thread, exclusive) { return }
    if exclusive {
      leaveExclusive(thread)
    } else {
      leaveShared(thread)
    }
  }

  /// Holds an idle lane alone, without its targets, while it calls `body`. `body` must not call
  /// client code. False: the lane was not idle.
  final func holdIfIdle(on thread: ThreadContext, _ body: () -> Void) -> Bool {
    guard enterAtOnce(thread, true) else { return false }
    body()
    if !leaveAtOnce(thread, true) { leaveExclusive(thread) }
    return true
  }

  // MARK: One uncontended lane

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

  /// Leaves a lane whose word is as it was after entering.
  @inline(__always)
  private final func leaveAtOnce(_ thread: ThreadContext, _ exclusive: Bool) -> Bool {
    if exclusive { owner.store(0, ordering: .relaxed) }
    let seen = state.load(ordering: .relaxed)
    guard seen.rawValue & ~LaneState.targeted == token(exclusive) else { return false }
    // releasing: as in leaveExclusive() and leaveShared().
    let (won, _) = state.compareExchange(
      expected: seen, desired: LaneState(rawValue: seen.rawValue & LaneState.targeted),
      successOrdering: .releasing, failureOrdering: .relaxed)
    if won && EffectivePriority.mayBeRaised(thread) { Self.reapplyPriority(thread) }
    return won
  }

  // MARK: One lane in

  /// Enters the lane, however long that takes. On return the thread is a holder: alone, and named
  /// by `owner`, or one of `running`. Each pass of the loop takes the first of these steps that the
  /// word admits: enter, enter from inside, spin, get in line, sleep on the word.
  /// `losses` counts the wake-ups after which another thread had the lane. From the first on, the
  /// thread may have been woken on behalf of all sleepers. So it keeps their mark when it enters,
  /// and wakes them all when it gets in line.
  private final func enter(_ thread: ThreadContext, exclusive: Bool) {
    if isClosed(by: thread, exclusive: exclusive) { failSelfSync(on: thread) }
    // A loop of its own: it spins, sleeps, and reads the width that belongs to each word.
    // acquiring, here and at each further load of the word: that width.
    var seen = state.load(ordering: .acquiring)
    var spins = 0
    var losses = 0
    var isInside: Bool?
    while true {
      if let next = seen.entered(exclusive: exclusive, width: widthNow)
        ?? enteredFromInside(seen, thread, exclusive: exclusive, &isInside)
      {
        // acquiring: pairs with the releasing exchange of the last holder that left.
        let desired = losses > 0 ? next.withSleepers(exclusive: exclusive) : next
        let (won, now) = state.weakCompareExchange(
          expected: seen, desired: desired, successOrdering: .acquiring,
          failureOrdering: .acquiring)
        if won {
          desired.check(after: seen)
          break
        }
        seen = now
        continue
      }
      if spins < Tuning.syncSpins && mayEndSoon(seen) {
        spins += 1
        spinHint()
        seen = state.load(ordering: .acquiring)
        continue
      }
      guard losses < Tuning.maxLosses, let asleep = seen.fellAsleep(), !isOutranked(by: thread)
      else {
        // This thread may have been woken on behalf of all sleepers. If it does not take the lane,
        // it must pass the wake-up on, or the remaining sleepers sleep for ever.
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
        asleep.check(after: seen)
      }
      losses += 1
      sleepOnWord(thread, while: asleep, exclusive: exclusive)
      seen = state.load(ordering: .acquiring)
    }
    if exclusive { owner.store(thread.ownerWord, ordering: .releasing) }
  }

  /// Whether what closes the lane may end within a spin. An activation that no thread has begun
  /// waits for a worker, which takes longer to wake up; nor does a suspension end at once, or the
  /// turn of a bound lane.
  @inline(__always)
  private final func mayEndSoon(_ seen: LaneState) -> Bool {
    if seen.isSuspended || seen.isBound { return false }
    // relaxed: a hint. The owner is named after it has taken the lane.
    let isActivated = seen.isLocked && seen.isHeld
    return !isActivated || owner.load(ordering: .relaxed) != 0
  }

  /// The word with this thread as one more reader, if it has a permit already; `isInside` keeps the
  /// answer.
  private final func enteredFromInside(
    _ seen: LaneState, _ thread: ThreadContext, exclusive: Bool, _ isInside: inout Bool?
  ) -> LaneState? {
    guard !exclusive, let next = seen.enteredFromInside() else { return nil }
    let isIn = isInside ?? self.isInside(thread)
    isInside = isIn
    return isIn ? next : nil
  }

  /// Whether a sync() of `thread` enters from inside. Not on a lane of limited width: such a reader
  /// would keep others out that the program counts on, and so few threads wait there at most that
  /// others are left.
  final func isInside(_ thread: ThreadContext) -> Bool {
    kind == .concurrent && widthNow == LaneState.defaultWidth && hasPermit(thread)
  }

  /// Completes a hand-off to this thread. More nodes may be behind it in line.
  private final func beginAsOwner(_ thread: ThreadContext) {
    owner.store(thread.ownerWord, ordering: .releasing)
    // A read-modify-write that changes nothing. A raiser either comes first, and its change shows
    // here, or it sees the owner.
    let seen = state.set(0)
    if UInt32(seen.urgency.rawValue) > thread.pointee.applied, Overrides.areResolved {
      Self.reapplyPriority(thread, atLeast: seen.urgency)
    }
  }

  private final func sleepOnWord(
    _ thread: ThreadContext, while asleep: LaneState, exclusive: Bool
  ) {
    // Not granted: the search for a deadlock cycle reads the grant of every waiting thread.
    Parker.prepare(thread)
    thread.shared.isServed.store(false, ordering: .relaxed)
    let known = EffectivePriority.ofWaiter(thread)
    EffectivePriority.waiting(thread, for: self, at: known) {
      sleepOnWordAnnounced(thread, while: asleep, exclusive: exclusive)
    }
  }

  private final func sleepOnWordAnnounced(
    _ thread: ThreadContext, while asleep: LaneState, exclusive: Bool
  ) {
    Blocking.announced(thread, boardWait(exclusive: exclusive)) {
      let first = Deadline.after(nanoseconds: Tuning.deadlockSuspicionNanoseconds)
      if futexWait(lowHalfOf: state, while: asleep.lowHalf, until: first) == .timedOut {
        // A lane that is held for long may never be released.
        LongWait.run(thread, for: self) { next in
          futexWait(lowHalfOf: state, while: asleep.lowHalf, until: next) != .timedOut
        }
      }
    }
  }

  /// Gets in line and waits for the hand-off. False: the lane became free to enter; try again.
  private final func waitInLine(_ thread: ThreadContext, exclusive: Bool) -> Bool {
    let node = NodeCache.take(thread)
    node.context = UnsafeMutableRawPointer(thread)
    let band = EffectivePriority.ofWaiter(thread)
    var traits = WorkTraits(qos: PackedQoS(band: band), barrier: exclusive)
    traits.formUnion(.waiter)
    node.traits = traits
    Parker.prepare(thread)
    thread.shared.isServed.store(false, ordering: .relaxed)
    // A loop of its own, and acquiring: as in push().
    var seen = state.load(ordering: .acquiring)
    while true {
      let width = widthNow
      if seen.entered(exclusive: exclusive, width: width) != nil {
        NodeCache.put(node, thread)
        return false
      }
      // Never `.admitted`: a node that may pass could have entered above.
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
      next.check(after: seen)
      invariant(
        action == .queued || action == .raised,
        "A waiter found lane '\(laneLabel)' idle with work queued.")
      if action == .raised { raise(next, from: thread) }
      break
    }
    awaitGrant(thread, at: band, exclusive: exclusive)
    return true
  }

  /// Waits until an owner grants this thread's node on this lane. `band`: the class that the node
  /// asks for. `exclusive`: whether it asks to enter alone, for the board.
  final func awaitGrant(_ thread: ThreadContext, at band: Band, exclusive: Bool) {
    if ThreadSpin.look(thread, atMost: Tuning.grantSpins, { Parker.isGranted(thread) }) { return }
    EffectivePriority.waiting(thread, for: self, at: band) {
      Blocking.announced(thread, boardWait(exclusive: exclusive)) {
        let first = Deadline.after(nanoseconds: Tuning.deadlockSuspicionNanoseconds)
        if !Parker.sleep(thread, until: first) {
          LongWait.run(thread, for: self) { Parker.sleep(thread, until: $0) }
        }
      }
    }
  }

  // MARK: One lane out

  private final func leaveExclusive(_ thread: ThreadContext) {
    owner.store(0, ordering: .relaxed)
    // releasing: the closure's writes, for the next holder. acquiring: with `owns`, the queued
    // nodes.
    let (before, owns, wake) = state.change(.acquiringAndReleasing) { seen in
      let (next, owns, wake) = seen.leftExclusive(isSerial: kind == .serial)
      return (next, (seen, owns, wake))
    }
    switch wake {
    case .nothing: break
    case .wakeOne: futexWake(lowHalfOf: state)
    case .wakeAll: futexWake(lowHalfOf: state, count: .max)
    }
    // The boost ends as soon as no thread can raise this one for the lane any more.
    EffectivePriority.noteEnd(of: before.urgency, on: thread)
    if EffectivePriority.mayBeRaised(thread) { Self.reapplyPriority(thread) }
    if owns { advance(on: thread) }
  }

  final func leaveShared(_ thread: ThreadContext) {
    // releasing: for the next barrier. acquiring: with .advance, the private list.
    // The width does not change while a shared holder is inside.
    let width = widthNow
    switch state.change(.acquiringAndReleasing, by: { $0.leftShared(width: width) }) {
    case .nothing: break
    case .advance: advance(on: thread)
    case .releaseSelf: Unmanaged.passUnretained(self).release()
    }
  }

  /// Runs an item that was counted as running, then leaves the lane.
  final func runAdmitted(_ node: WorkNode, on thread: ThreadContext) {
    node.traits.subtract(.carried)
    let outerQueueLabel = thread.queueLabel
    thread.enterQueueLabel(UInt(bitPattern: address))
    withFrame(thread, as: .counted) {
      showLabel(on: thread)
      BlackBox.noteItem(of: placeOnBoard(), on: thread)
      thread.pointee.qos = node.traits.qos.rawValue
      node.runItem(of: address, on: thread)
    }
    // Before leaveShared(), which may end the lane.
    thread.setCurrentQueueLabel(outerQueueLabel)
    Self.showOuterLabel(on: thread)
    leaveShared(thread)
  }

  /// Marks the thread as working on this lane while `body` runs.
  final func withFrame(
    _ thread: ThreadContext, as kind: FrameKind = .entered, _ body: () -> Void
  ) {
    let outer = thread.enterFrame(of: kind.marked(address))
    body()
    thread.leaveFrame(to: outer)
  }
}
