// Room: Lanes/Lane+Suspend. Stopping a lane between two items, and letting it go on.
// The count is kept under the control lock; the word carries one flag, set and cleared under that lock,
// so the two never disagree for long. A drainer does not look at the word per item: it looks at
// `attention`, which every change adds to *after* it changed the word. So: the change is in the word
// before suspend() returns; a drainer that finishes an item after that reads a new number, looks at the
// word, and gives the lane up. Bit 0 of it says more, see noteAskedChange(); the others count.

extension Lane {
  final func suspendLane() {
    guard kind != .root && kind != .bound else { return }
    control.withLock {
      guard let next = suspension.suspended() else {
        clientFault(
          "Queue '\(laneLabel)' was suspended too often. Balance suspend() with resume().")
      }
      setSuspension(next, from: currentThread())
    }
  }

  /// `activates`: on an object that was never activated this is its activation, as on sources. Returns whether it was.
  @discardableResult
  final func resumeLane(activates: Bool = false) -> Bool {
    guard kind != .root && kind != .bound else { return false }
    var isActivation = false
    let owns = control.withLock {
      let activated = activates && suspension.isInactive ? suspension.activated() : nil
      isActivation = activated != nil && suspension.count == 0
      guard let next = suspension.resumed() ?? activated else {
        let fix =
          suspension.isInactive
          ? "Call activate() to start it." : "Call resume() once per suspend()."
        clientFault("resume() without suspend() on queue '\(laneLabel)'. \(fix)")
      }
      return setSuspension(next, from: currentThread())
    }
    if owns { advance(on: currentThread()) }
    return isActivation
  }

  final func activateLane() {
    guard kind != .root && kind != .bound else { return }
    let owns = control.withLock { setSuspension(suspension.activated(), from: currentThread()) }
    if owns { advance(on: currentThread()) }
  }

  /// Changes the count, and the word with it. Returns whether the caller has come to own the lane.
  @discardableResult
  private final func setSuspension(_ next: Suspension, from thread: ThreadContext) -> Bool {
    let was = suspension.isBlocking
    suspension = next
    if next.isBlocking == was { return false }
    if next.isBlocking {
      state.set(LaneState.suspended)
      noteChange()
      return false
    }
    var seen = state.load(ordering: .relaxed)
    while true {
      let (after, owns) = seen.unsuspended()
      // acquiring: with `owns`, the private list that the last owner left.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: after, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if won { return owns }
      seen = now
    }
  }

  /// Makes the drainer look at the word and the target after its current item. Releasing: pairs with
  /// the acquiring load there, which then sees the change made before this call.
  final func noteChange() {
    attention.wrappingAdd(2, ordering: .releasing)
  }
}
