// Room: Lanes/Lane+Suspend. Stops a lane between two items, and lets it continue.
// Two bits of the state word say how the lane is suspended; the field `suspension` counts what the
// word has no room for:
//   not suspended ─suspend→ suspended ─resume→ not suspended      one exchange each
//   suspended ─suspend→ suspended+counted: `suspension` counts    under the control lock
//   suspended+counted ─resume, activate→ suspended, or not suspended, as the count says
//                                                                 under the control lock
// Invariant: `counted` and `suspension` change only under the control lock, so a thread that holds
// the lock and reads `counted` may rely on both. Without `counted`, `suspension` is empty and has
// no meaning.
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
    guard kind != .root && kind != .bound else { return }
    while !suspendFirst() && !suspendCounted() {}
  }

  /// Returns false if the lane was suspended already.
  @inline(__always)
  private final func suspendFirst() -> Bool {
    // relaxed: a guess that the exchange re-checks.
    var seen = state.load(ordering: .relaxed)
    noteSuspended()
    while let next = seen.suspendedOnce() {
      // releasing: what this thread did before, for the thread that finds the lane suspended.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
      if won {
        if seen.isLocked { noteChange() }
        return true
      }
      seen = now
    }
    return false
  }

  /// Counts another suspension. Returns false if the lane has been resumed meanwhile.
  @inline(never)
  private final func suspendCounted() -> Bool {
    control.withLock {
      if count() {
        guard let next = suspension.suspended() else {
          clientFault(
            "Queue '\(laneLabel)' was suspended too often. Balance suspend() with resume().")
        }
        suspension = next
        return true
      }
      return false
    }
  }

  /// Under the control lock: makes `suspension` count. Returns false if the lane is not suspended.
  private final func count() -> Bool {
    var seen = state.load(ordering: .relaxed)
    while seen.isSuspended {
      if seen.isCounted { return true }
      // relaxed: the lock hands the field over. Being a read-modify-write it passes on what others
      // released.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: LaneState(rawValue: seen.rawValue | LaneState.counted),
        ordering: .relaxed)
      if won {
        suspension = Suspension(count: 1)
        return true
      }
      seen = now
    }
    return false
  }

  /// `activates`: on an object that was never activated this is its activation, as on sources. Then
  /// `whenActivated` is called, with the lane held.
  final func resumeLane(activates: Bool, whenActivated: () -> Void) {
    guard kind != .root && kind != .bound else { return }
    while !resumeFirst() && !resumeCounted(activates: activates, whenActivated) {}
  }

  /// Ends the only suspend() in effect. Returns false if there is none, or more than that.
  @inline(__always)
  private final func resumeFirst() -> Bool {
    // relaxed: a guess that the exchange re-checks.
    var seen = state.load(ordering: .relaxed)
    noteResumed()
    while let (next, owns) = seen.resumedOnce() {
      if owns { _ = Unmanaged.passRetained(self) }
      // releasing: what this thread did before, for what may run now. acquiring: with `owns`, the
      // private list that the last owner left.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won && owns { advance(on: currentThread()) }
      if owns { Unmanaged.passUnretained(self).release() }
      if won { return true }
      seen = now
    }
    return false
  }

  /// Resumes a lane whose suspensions are counted. Returns false if they no longer are.
  @inline(never)
  private final func resumeCounted(activates: Bool, _ whenActivated: () -> Void) -> Bool {
    var isActivation = false
    let change: CountedChange? = control.withLock {
      let seen = state.load(ordering: .relaxed)
      if seen.isSuspended && !seen.isCounted { return nil }
      let activated = activates && suspension.isInactive ? suspension.activated() : nil
      isActivation = activated != nil && suspension.count == 0
      guard let next = suspension.resumed() ?? activated else {
        let fix =
          suspension.isInactive
          ? "Call activate() to start it." : "Call resume() once per suspend()."
        clientFault("resume() without suspend() on queue '\(laneLabel)'. \(fix)")
      }
      return setSuspension(next)
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
      suspension.isInactive ? setSuspension(suspension.activated()) : .isCountedOn
    }
    conclude(change) {}
  }

  private enum CountedChange {
    /// The field still counts.
    case isCountedOn
    /// The word is complete, so any thread may resume the lane and release it. The lane is
    /// retained. `owns`: the lane is no longer suspended, work is queued, and the caller owns it.
    case isInWord(owns: Bool)
  }

  /// Under the control lock, with `counted` in the word: changes the count, or gives it back to the
  /// word.
  private final func setSuspension(_ next: Suspension) -> CountedChange {
    if next.isBlocking && next != Suspension(count: 1) {
      suspension = next
      return .isCountedOn
    }
    _ = Unmanaged.passRetained(self)
    suspension = Suspension()
    if !next.isBlocking { noteResumed() }
    var seen = state.load(ordering: .relaxed)
    while true {
      let (after, owns) = next.isBlocking ? (seen.uncounted(), false) : seen.unsuspended()
      // acquiring: with `owns`, the private list that the last owner left.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: after, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won { return .isInWord(owns: owns) }
      seen = now
    }
  }

  /// After a change, without the lock. `body` is called with the lane held, if the count was given
  /// to the word.
  private final func conclude(_ change: CountedChange, _ body: () -> Void) {
    guard case .isInWord(let owns) = change else { return }
    if owns { advance(on: currentThread()) }
    body()
    Unmanaged.passUnretained(self).release()
  }

  /// Ends the lane, with the count given.
  final func requireNotSuspended(counted: Suspension) {
    // relaxed: no other thread can reach the lane any more.
    let seen = state.load(ordering: .relaxed)
    guard seen.isSuspended else { return }
    (seen.isCounted ? counted : Suspension(count: 1)).requireReleasable(label: laneLabel)
  }

  /// Makes the drainer look at the word and the target after its current item. Releasing: pairs
  /// with the acquiring load there, which then sees the change made before this call.
  final func noteChange() {
    changeEpoch.wrappingAdd(2, ordering: .releasing)
  }
}
