// Room: Lanes/Lane+Suspend. Stops a lane between two items, and lets it continue.
// Two bits of the state word say how the lane is suspended; the word `suspension` counts what the
// state word has no room for:
//   not suspended ─suspend→ suspended ─resume→ not suspended      one exchange of the state each
//   suspended ─suspend→ suspended+counted, `suspension` 2         under the control lock
//   suspended+counted ─suspend, resume→ suspended+counted         one exchange of `suspension` each
//   suspended+counted ─last resume, activate→ not suspended       under the control lock
// A lane that is counted stays so until the last resume(): a program that suspends twice often does
// so again.
// Invariant: `suspension` ≠ 0 ⇒ the state word says suspended and counted. So the word is opened
// after `counted` is set, and closed, by an exchange to 0, before `counted` is cleared; both under
// the control lock. A suspend() whose exchange finds the word open finds the lane suspended by
// another call. That call is not resumed to 0 without this one, because the exchange to 0 compares.
// A thread that finds the word closed takes the lock and looks at the state word.
//
// The exchange of the common suspend() and resume() is the last access to the lane, unless the lane
// is locked or has work: a resume() that comes to own the lane holds it until the queued work has
// been served.
//
// The drainer does not read the word for each item. It reads `changeEpoch`, which the suspension of
// a locked lane increases *after* the word has changed. So the change is in the word before
// suspend() returns: a drainer that finishes an item later reads a new epoch, reads the word, and
// gives the lane up. A lane that is not locked has no drainer, and the next one reads the word
// first. Bit 0 of `changeEpoch` has another meaning, see noteAskedChange(); the others count.
// Models: Verification/Models/Scenes/SuspensionModels.swift.

extension Lane {
  final func suspendLane() {
    // First, because a lane that is suspended often needs nothing else: neither the kind, since
    // only a lane that can be suspended is counted, nor the state word.
    if suspendMore() { return }
    guard kind != .root && kind != .bound else { return }
    while !suspendFirst() && !suspendMore() && !suspendCounted() {}
  }

  /// Returns false if the lane was suspended already.
  @inline(__always)
  private final func suspendFirst() -> Bool {
    noteSuspended()
    // releasing: what this thread did before, for the thread that finds the lane suspended.
    let before = state.transition(.releasing) { seen in
      seen.suspendedOnce().map { ($0, seen) }
    }
    guard let before else { return false }
    if before.isLocked { noteChange() }
    return true
  }

  /// Counts another suspension. Returns false if `suspension` does not count yet, or no longer.
  @inline(__always)
  private final func suspendMore() -> Bool {
    // relaxed: a guess that the exchange re-checks.
    var seen = suspension.load(ordering: .relaxed)
    while seen.isBlocking {
      guard let next = seen.suspended() else { failSuspendedTooOften() }
      // relaxed: the lane is suspended, so this publishes nothing. Being a read-modify-write it
      // passes on what others released.
      let (won, now) = suspension.weakCompareExchange(
        expected: seen, desired: next, ordering: .relaxed)
      if won {
        noteSuspension()
        return true
      }
      seen = now
    }
    return false
  }

  /// The first suspend() may not have notified the drainer yet, and this one must not return before
  /// that.
  @inline(__always)
  private final func noteSuspension() {
    // relaxed: a drainer that this thread does not see has read the suspended word.
    if state.load(ordering: .relaxed).isLocked { noteChange() }
  }

  @inline(never)
  private final func failSuspendedTooOften() -> Never {
    clientFault("Queue '\(laneLabel)' was suspended too often. Balance suspend() with resume().")
  }

  /// Makes `suspension` count. Returns false if the lane has been resumed meanwhile, or it counts
  /// already.
  @inline(never)
  private final func suspendCounted() -> Bool {
    control.withLock {
      var seen = state.load(ordering: .relaxed)
      while seen.isSuspended && !seen.isCounted {
        // relaxed: the lock orders the two words. Being a read-modify-write it passes on what
        // others released.
        let (won, now) = state.weakCompareExchange(
          expected: seen, desired: LaneState(rawValue: seen.rawValue | LaneState.counted),
          ordering: .relaxed)
        if won {
          // The suspend() in the state word, and this one. relaxed: a thread that finds the word
          // open reads nothing else.
          suspension.store(Suspension(count: 2), ordering: .relaxed)
          if seen.isLocked { noteChange() }
          return true
        }
        seen = now
      }
      return false
    }
  }

  /// `activates`: on an object that was never activated this is its activation, as on sources. Then
  /// `whenActivated` is called, with the lane held.
  final func resumeLane(activates: Bool, whenActivated: () -> Void) {
    // First, as in suspendLane().
    if !resumePartly() && !resumeIdle() { resumeSlowly(activates: activates, whenActivated) }
  }

  /// Ends the only suspend() in effect, if nothing is queued and the board does not show the lane.
  /// Returns false otherwise, or if another thread has changed the word. An exchange that is tried
  /// once: the slow path finds everything else.
  @inline(__always)
  private final func resumeIdle() -> Bool {
    // relaxed: a guess that the exchange re-checks.
    let seen = state.load(ordering: .relaxed)
    guard let next = seen.resumedIdle(), !isOnBoard else { return false }
    // releasing: what this thread did before, for what may run now.
    let (won, _) = state.weakCompareExchange(
      expected: seen, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
    if won { next.check(after: seen) }
    return won
  }

  @inline(never)
  private final func resumeSlowly(activates: Bool, _ whenActivated: () -> Void) {
    guard kind != .root && kind != .bound else { return }
    while !resumeFirst() && !resumePartly()
      && !resumeCounted(activates: activates, whenActivated)
    {}
  }

  /// Ends the only suspend() in effect. Returns false if there is none, or more than that.
  @inline(__always)
  private final func resumeFirst() -> Bool {
    // A loop of its own: before each attempt that would come to own the lane, it retains it.
    // relaxed: a guess that the exchange re-checks.
    var seen = state.load(ordering: .relaxed)
    while let (next, owns) = seen.resumedOnce() {
      noteResumed()
      if owns { _ = Unmanaged.passRetained(self) }
      // releasing: what this thread did before, for what may run now. acquiring: with `owns`, the
      // private list that the last owner left.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won { next.check(after: seen) }
      if won && owns { advance(on: currentThread()) }
      if owns { Unmanaged.passUnretained(self).release() }
      if won { return true }
      seen = now
    }
    return false
  }

  /// Ends one of several suspensions. Returns false if `suspension` does not count, or if nothing
  /// would remain.
  @inline(__always)
  private final func resumePartly() -> Bool {
    // relaxed: a guess that the exchange re-checks.
    var seen = suspension.load(ordering: .relaxed)
    while let next = seen.resumedPartly() {
      // releasing: what this thread did before, for the thread that resumes last, and so for what
      // may run then. This is the last access to the lane.
      let (won, now) = suspension.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
      if won { return true }
      seen = now
    }
    return false
  }

  /// Resumes or activates a lane whose suspensions are counted. Returns false if they no longer
  /// are.
  @inline(never)
  private final func resumeCounted(activates: Bool, _ whenActivated: () -> Void) -> Bool {
    var isActivation = false
    let change: CountedChange? = control.withLock {
      let word = state.load(ordering: .relaxed)
      if word.isSuspended && !word.isCounted { return nil }
      return changeSuspension { seen in
        let activated = activates && seen.isInactive ? seen.activated() : nil
        isActivation = activated != nil && seen.count == 0
        if let next = seen.resumed() ?? activated { return next }
        let fix =
          seen.isInactive
          ? "Call activate() to start it." : "Call resume() once per suspend()."
        clientFault("resume() without suspend() on queue '\(laneLabel)'. \(fix)")
      }
    }
    guard let change else { return false }
    conclude(change) { if isActivation { whenActivated() } }
    return true
  }

  final func activateLane() {
    guard kind != .root && kind != .bound else { return }
    // relaxed: a lane becomes inactive only before another thread can reach it.
    if !state.load(ordering: .relaxed).isCounted { return }
    let change: CountedChange = control.withLock {
      isInactive ? changeSuspension { $0.activated() } : .isCountedOn
    }
    conclude(change) {}
  }

  private enum CountedChange {
    /// The lane is suspended as before.
    case isCountedOn
    /// The lane is no longer suspended, so any thread may release it. It is retained. `owns`: work
    /// is queued, and the caller owns the lane.
    case isInWord(owns: Bool)
  }

  /// Under the control lock, with `counted` in the state word: changes the count, and ends the
  /// suspension if nothing remains.
  private final func changeSuspension(_ change: (Suspension) -> Suspension) -> CountedChange {
    // relaxed: a guess that the exchange re-checks.
    var counted = suspension.load(ordering: .relaxed)
    while true {
      let next = change(counted)
      // releasing: as in resumePartly(). acquiring: pairs with the exchange there, for what may run
      // now.
      let (won, now) = suspension.weakCompareExchange(
        expected: counted, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won && next.isBlocking { return .isCountedOn }
      if won { break }
      counted = now
    }
    noteResumed()
    _ = Unmanaged.passRetained(self)
    var seen = state.load(ordering: .relaxed)
    while true {
      let (after, owns) = seen.unsuspended()
      // releasing: what this thread and those before it did. acquiring: with `owns`, the private
      // list that the last owner left.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: after, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won {
        after.check(after: seen)
        return .isInWord(owns: owns)
      }
      seen = now
    }
  }

  /// After a change, without the lock. `body` is called with the lane held, if the suspension has
  /// ended.
  private final func conclude(_ change: CountedChange, _ body: () -> Void) {
    guard case .isInWord(let owns) = change else { return }
    if owns { advance(on: currentThread()) }
    body()
    Unmanaged.passUnretained(self).release()
  }

  /// Stops the process if the lane ends while it is suspended, or a sync() has not left it.
  @inline(__always)
  final func requireReleasable() {
    // relaxed: no other thread can reach the lane any more, and what they did comes before the last
    // release.
    let seen = state.load(ordering: .relaxed)
    #if GRANDCENTRAL_MODEL
      // There, counts of references order nothing, and `seen` may be an older value.
      let hasHolder = false
    #else
      let hasHolder = seen.hasHolder
    #endif
    if seen.isSuspended || hasHolder { requireReleasable(seen) }
  }

  @inline(never)
  private final func requireReleasable(_ seen: LaneState) {
    if seen.isSuspended {
      let counted = seen.isCounted ? suspension.load(ordering: .relaxed) : Suspension(count: 1)
      counted.requireReleasable(label: laneLabel)
    }
    // The frames of the thread inside name the lane.
    require(
      kind == .bound || !seen.hasHolder,
      """
      The last reference to queue '\(laneLabel)' was released while a sync() was inside the queue. \
      Release it after the sync() has returned. One that an exception or longjmp() has left never \
      returns.
      """)
  }

  /// Makes the drainer look at the word and the target after its current item. Releasing: pairs
  /// with the acquiring load there, which then sees the change made before this call.
  final func noteChange() {
    changeEpoch.wrappingAdd(2, ordering: .releasing)
  }
}
