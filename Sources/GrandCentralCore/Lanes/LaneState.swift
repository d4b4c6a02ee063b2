// Room: Lanes/LaneState. Which thread may touch a lane's list, and its contents.
//   63…52 running  shared holders: running items of a concurrent lane, and its sync() readers
//   51…49 urgency  a band. While locked: what the owner works at for this lane, and at least what
//                  is queued. Otherwise: what is queued. More urgent arrivals raise it: see
//                  Lane+Override
//   48 held        the lane retains itself: an activation or a running item refers to it
//   47…6 pending   the newest node pushed, linked to older ones; node addresses are multiples of 64
//    5 bound       without bit 3: no worker drains the lane, but the main thread, or the host of a
//                  hosted queue. Such a lane cannot be suspended
//      counted     with bit 3: `Suspension` counts the suspend() in effect, of which there were
//                  more than one, or the lane is inactive
//    4 targeted    the target is another lane, not a root: the inlined sync() must not enter
//    3 suspended   nothing may start; resume and activate clear it
//    2 batch       the private list is not empty and has no owner, or the owner is inspecting it:
//                  arrivals queue
//    1 sleepers    while locked: threads sleep on the low half, waiting for a sync() that holds the
//                  lane
//      barrier     otherwise: the first queued node needs the lane alone, and waits for running = 0
//    0 locked      the lane has an owner: one thread, or one activation in flight, has the private
//                  list and may take pending
// A holder is the owner, or one of those that `running` counts. An owner hands the lane over to a
// waiter, or gives it up; any other holder leaves it.
// A serial lane: idle ─push→ locked+held (an activation is in flight or drains) ─empty→ idle
//                idle ─sync→ locked ─done→ idle, or with work queued → locked+held
// A concurrent lane: idle ─push→ running 1, held ─push→ running 2 … ─done→ … idle
//                a barrier queues; the last holder to leave locks the lane on its behalf
// Invariants:
//   held ⇒ locked or running > 0.
//   barrier ⇒ work queued, not locked.
//   sleepers ⇒ locked, not held. If work arrives later, the holder wakes all sleepers when it
//   leaves.
//   Work queued, not suspended, not locked ⇒ running > 0, and each holder that leaves fewer than
//   the width looks at the work, or only the last one if `barrier` is set.
//   locked without held ⇒ a sync() holds the lane, or a thread is between two transitions.
//   urgency ≠ 0 ⇒ locked, or something is queued: the word of an idle lane equals that of a new
//   one.
// Unit tests of every transition over every word of interest:
// Tests/GrandCentralCoreTests/Lanes/LaneStateInvariantTests.swift.

@usableFromInline
struct LaneState: RawRepresentable, AtomicRepresentable, Hashable, Sendable {
  @usableFromInline let rawValue: UInt64
  @inlinable @inline(__always) init(rawValue: UInt64) { self.rawValue = rawValue }

  @usableFromInline static var locked: UInt64 { 1 << 0 }
  static var sleepers: UInt64 { 1 << 1 }
  /// The same bit, on a lane that is not locked.
  static var barrier: UInt64 { sleepers }
  static var batch: UInt64 { 1 << 2 }
  static var suspended: UInt64 { 1 << 3 }
  static var targeted: UInt64 { 1 << 4 }
  static var bound: UInt64 { 1 << 5 }
  /// The same bit, on a suspended lane.
  static var counted: UInt64 { bound }
  static var pendingMask: UInt64 { 0x0000_ffff_ffff_ffc0 }
  static var held: UInt64 { 1 << 48 }
  static var urgencyMask: UInt64 { 7 << 49 }
  @usableFromInline static var oneRunning: UInt64 { 1 << 52 }
  /// The width of a concurrent lane by default: more shared holders queue.
  static var defaultWidth: Int { scaled(3000, inModels: 3) }
  /// Up to where an owner admits to a lane of that width.
  static var maxAdmitted: Int { scaled(3047, inModels: 4) }
  /// What the field holds. Only a thread that is inside already enters beyond `maxAdmitted`: there
  /// is room for each of the thousand threads of a pool, once.
  static var maxHolders: Int { scaled(4095, inModels: 6) }
}

extension LaneState: StateWord {
  /// Whether the invariants above hold.
  var isValid: Bool {
    if isHeld && !isLocked && running == 0 { return false }
    if hasSleepers && (!isLocked || isHeld) { return false }
    if hasWork && !isSuspended && !isLocked && running == 0 { return false }
    if awaitsBarrier && (isLocked || !hasWork) { return false }
    return urgency == .unspecified || hasWorkOrOwner
  }
}

extension LaneState {
  @inline(__always) var isLocked: Bool { rawValue & Self.locked != 0 }
  @inline(__always) var hasSleepers: Bool {
    rawValue & (Self.sleepers | Self.locked) == Self.sleepers | Self.locked
  }
  @inline(__always) var hasBatch: Bool { rawValue & Self.batch != 0 }
  @inline(__always) var isSuspended: Bool { rawValue & Self.suspended != 0 }
  @inline(__always) var isTargeted: Bool { rawValue & Self.targeted != 0 }
  @inline(__always) var isBound: Bool { rawValue & (Self.bound | Self.suspended) == Self.bound }
  /// `Suspension` says what suspends the lane. Set and cleared under the lane's control lock.
  @inline(__always) var isCounted: Bool {
    rawValue & (Self.counted | Self.suspended) == Self.counted | Self.suspended
  }
  @inline(__always) var isHeld: Bool { rawValue & Self.held != 0 }
  @inline(__always) var awaitsBarrier: Bool {
    rawValue & (Self.barrier | Self.locked) == Self.barrier
  }
  @inline(__always) var running: Int { Int(rawValue >> 52) }
  @inline(__always) var urgency: Band {
    Band(rawValue: UInt8(rawValue >> 49 & 7)).unsafelyUnwrapped
  }
  @inline(__always) func withUrgency(_ band: Band) -> LaneState {
    LaneState(rawValue: rawValue & ~Self.urgencyMask | Self.field(band))
  }
  /// The urgency, where the word has it. Such values compare as the bands do.
  @inline(__always) static func field(_ urgency: Band) -> UInt64 {
    UInt64(urgency.rawValue) << 49
  }
  @inline(__always) var pending: UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: UInt(rawValue & Self.pendingMask))
  }
  /// Whether a node waits on the pending or the private list.
  @inline(__always) var hasWork: Bool { rawValue & (Self.pendingMask | Self.batch) != 0 }
  /// Whether the lane has an owner, or a node waits for it.
  var hasWorkOrOwner: Bool { hasWork || isLocked }
  @inline(__always) var hasHolder: Bool { isLocked || running > 0 }
  /// The half of the word on which sleepers sleep.
  @inline(__always) var lowHalf: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
}

extension Atomic where Value == LaneState {
  /// Sets bits and returns the word before. Acquiring and releasing: the callers are rare, and each
  /// needs one or the other.
  @inline(__always) @discardableResult
  func set(_ bits: UInt64) -> LaneState { replace { LaneState(rawValue: $0.rawValue | bits) } }

  /// Clears bits and returns the word before. Acquiring and releasing, as set().
  @inline(__always) @discardableResult
  func clear(_ bits: UInt64) -> LaneState { replace { LaneState(rawValue: $0.rawValue & ~bits) } }

  @inline(__always)
  private func replace(_ change: (LaneState) -> LaneState) -> LaneState {
    self.change(.acquiringAndReleasing) { (change($0), $0) }
  }
}

// MARK: Entering

extension LaneState {
  enum PushAction: Hashable {
    /// On the pending list. The owner, or a holder that leaves, will see it.
    case queued
    /// As `queued`, and more urgent than the word said: the caller must raise the lane.
    case raised
    /// On the pending list. The caller now owns the lane and must send its activation; the lane now
    /// holds itself.
    case schedule
    /// Not queued: counted as running. The caller sends it straight to the target. If `retains`,
    /// the lane now holds itself.
    case admitted(retains: Bool)
  }

  /// Adds a node. An exclusive node (any on a serial lane, a barrier on a concurrent one) queues. A
  /// shared node passes if nothing is ahead of it and fewer than `width` are inside.
  @inline(__always)
  func pushed(
    _ node: UnsafeMutableRawPointer, exclusive: Bool, urgency asked: Band, width: Int
  ) -> (LaneState, PushAction) {
    let closed = Self.locked | Self.batch | Self.suspended | Self.pendingMask
    if !exclusive && rawValue & closed == 0 && running < width {
      return (
        LaneState(rawValue: (rawValue + Self.oneRunning) | Self.held),
        .admitted(retains: !isHeld)
      )
    }
    let urgency = max(rawValue & Self.urgencyMask, Self.field(asked))
    let queued =
      rawValue & ~(Self.pendingMask | Self.urgencyMask) | urgency
      | UInt64(UInt(bitPattern: node))
    if isLocked {
      let isMore = urgency != rawValue & Self.urgencyMask
      return (LaneState(rawValue: queued), isMore ? .raised : .queued)
    }
    if isSuspended { return (LaneState(rawValue: queued), .queued) }
    if running > 0 {
      // Only the first node in line decides whether it waits for the last holder to leave.
      let flag = exclusive && !hasWork ? Self.barrier : 0
      return (LaneState(rawValue: queued | flag), .queued)
    }
    return (LaneState(rawValue: queued | Self.locked | Self.held), .schedule)
  }

  /// Adds a node to the list of a lane whose owner works at its urgency or above, and is not
  /// suspended: what pushed() makes of such a word. `nil`: it is another word.
  @inline(__always)
  func pushedBehindOwner(_ node: UnsafeMutableRawPointer, urgency asked: Band) -> LaneState? {
    guard rawValue & (Self.locked | Self.suspended) == Self.locked,
      Self.field(asked) <= rawValue & Self.urgencyMask
    else { return nil }
    return LaneState(rawValue: rawValue & ~Self.pendingMask | UInt64(UInt(bitPattern: node)))
  }

  /// Enters for a sync(); `nil` if the lane is held or something is ahead.
  @inline(__always)
  func entered(exclusive: Bool, width: Int) -> LaneState? {
    let closed = Self.locked | Self.batch | Self.suspended | Self.bound | Self.pendingMask
    guard rawValue & closed == 0 else { return nil }
    if exclusive {
      return running == 0 ? LaneState(rawValue: rawValue | Self.locked) : nil
    }
    return running < width ? LaneState(rawValue: rawValue + Self.oneRunning) : nil
  }

  /// Enters for a sync() of a thread that is a shared holder already: beside the queued nodes and
  /// beyond the width, since these may wait for that thread to leave. `nil`: the lane is suspended,
  /// or a barrier is first in line; the closure must come after it, so that is a deadlock.
  @inline(__always)
  func enteredFromInside() -> LaneState? {
    guard !isSuspended, !awaitsBarrier, running < Self.maxHolders else { return nil }
    return LaneState(rawValue: rawValue + Self.oneRunning)
  }

  /// Admits up to `count` more, on behalf of a shared holder. `nil`: none, because the width is
  /// used up, or something is ahead: the private list of an owner does not show in the word.
  func admitted(upTo count: Int, width: Int) -> (LaneState, admitted: Int)? {
    guard count > 0, running < width, !hasWorkOrOwner else { return nil }
    let admitted = min(count, width - running)
    return (LaneState(rawValue: rawValue + UInt64(admitted) * Self.oneRunning), admitted)
  }

  /// Marks a sleeper on a lane that a sync() holds with nothing queued. The sleeper takes the lane
  /// out of order, as with a mutex, which is several times faster than a hand-off from thread to
  /// thread in order. `nil`: get in line instead.
  func fellAsleep() -> LaneState? {
    guard isLocked && !isHeld && !hasWork && !isSuspended && !isBound else { return nil }
    return LaneState(rawValue: rawValue | Self.sleepers)
  }
}

extension LaneState {
  /// Keeps the sleepers flag when a woken thread takes the lane, since the thread cannot know
  /// whether it was the last sleeper. Readers are all woken together and need no flag.
  func withSleepers(exclusive: Bool) -> LaneState {
    exclusive ? LaneState(rawValue: rawValue | Self.sleepers) : self
  }
}

// MARK: Leaving

extension LaneState {
  enum LeaveAction: Hashable {
    case nothing
    /// The caller now owns the lane and must look at the first node in line.
    case advance
    /// The lane no longer holds itself: the caller must release it.
    case releaseSelf
  }

  /// Removes one shared holder. If `width` are left or more, it leaves queued work to a later one.
  func leftShared(width: Int) -> (LaneState, LeaveAction) {
    let left = rawValue - Self.oneRunning
    if isLocked { return (LaneState(rawValue: left), .nothing) }
    let running = LaneState(rawValue: left).running
    let isLast = running == 0
    if hasWork && !isSuspended && (isLast || !awaitsBarrier && running < width) {
      return (LaneState(rawValue: left & ~Self.barrier | Self.locked | Self.batch), .advance)
    }
    guard isLast && isHeld else { return (LaneState(rawValue: left), .nothing) }
    return (LaneState(rawValue: left & ~Self.held), .releaseSelf)
  }

  enum WakeAction: Hashable {
    case nothing
    case wakeOne
    case wakeAll
  }

  /// Removes the sync() that held the lane alone. `owns`: work is queued, so the caller still owns
  /// the lane and must look at the first node in line. In that case all sleepers wake, to get in
  /// line too.
  func leftExclusive(isSerial: Bool) -> (state: LaneState, owns: Bool, wake: WakeAction) {
    let awake = rawValue & ~Self.sleepers
    if hasWork {
      let wake: WakeAction = hasSleepers ? .wakeAll : .nothing
      if isSuspended { return (LaneState(rawValue: awake & ~Self.locked), false, wake) }
      return (LaneState(rawValue: awake | Self.batch), true, wake)
    }
    // On a concurrent lane the sleepers may be readers, which can all enter together.
    let wake: WakeAction = hasSleepers ? (isSerial ? .wakeOne : .wakeAll) : .nothing
    return (LaneState(rawValue: awake & ~(Self.locked | Self.urgencyMask)), false, wake)
  }
}

// MARK: The owner's moves

/// Why an owner gives a lane up. The reason must hold in the word that the exchange replaces.
enum Leaving {
  case nothingIsQueued
  case suspended
  /// The width is used up: a holder that leaves and makes room continues.
  case full
  /// The first node needs the lane alone: the last holder to leave continues.
  case firstInLineIsExclusive

  func holds(in state: LaneState, of lane: Lane) -> Bool {
    switch self {
    case .nothingIsQueued: state.pending == nil
    case .suspended: state.isSuspended
    case .full: state.running >= lane.widthNow
    case .firstInLineIsExclusive: state.running > 0
    }
  }
}

extension LaneState {
  /// Gives the lane up. `hasBatch`: nodes of that urgency are left on the private list. The lane
  /// still holds itself while items run. `awaitsBarrier`: the first node is exclusive, so only the
  /// last holder to leave may continue.
  func givenUp(
    hasBatch: Bool, awaitsBarrier: Bool = false, urgency: Band = .unspecified
  ) -> LaneState {
    var next = left(urgency).rawValue & ~(Self.locked | Self.batch | Self.barrier)
    if running == 0 { next &= ~Self.held }
    if hasBatch { next |= Self.batch }
    if awaitsBarrier { next |= Self.barrier }
    return LaneState(rawValue: next)
  }

  /// The urgency that an owner leaves behind: the private list's, or the word's if nodes are
  /// pending. For pending nodes the word's urgency is an upper bound.
  private func left(_ urgency: Band) -> LaneState {
    withUrgency(pending == nil ? urgency : max(urgency, self.urgency))
  }

  /// Hands the lane to a sync() that waited in line: locked, and no longer held. `urgency`: that of
  /// the private list.
  func handedOver(hasBatch: Bool, urgency: Band = .unspecified) -> LaneState {
    let next = left(urgency).rawValue & ~(Self.held | Self.batch)
    return LaneState(rawValue: hasBatch ? next | Self.batch : next)
  }

  /// Admits up to `count` more holders beside the owner: items, for which the lane then holds
  /// itself, or `sync()` readers, which keep the lane themselves. `nil`: the width is used up.
  func admitted(_ count: Int, areItems: Bool, width: Int) -> (LaneState, admitted: Int)? {
    guard running < width else { return nil }
    let admitted = min(count, width - running)
    let held = areItems ? Self.held : 0
    return (LaneState(rawValue: (rawValue + UInt64(admitted) * Self.oneRunning) | held), admitted)
  }

  /// Raises the urgency after a queued waiter became more urgent. `nil`: the word says as much
  /// already, or no thread can wait here.
  func raised(to band: Band) -> LaneState? {
    guard band > urgency, hasWork || isLocked && isHeld else { return nil }
    return withUrgency(band)
  }

  enum WaiterRise: Hashable {
    /// The caller must wake all sleepers and look again.
    case roused
    /// The word has the waiter's urgency.
    case raised(LaneState)
  }

  /// A waiter became more urgent. A thread that sleeps on the word is not in line. Woken, it gets
  /// in line if it outranks the owner. Other threads may be in line at the same time, and this
  /// waiter may be one of them. `nil`: nothing to change.
  func waiterDidRise(to band: Band) -> (next: LaneState, outcome: WaiterRise)? {
    if let next = roused() { return (next, .roused) }
    return raised(to: band).map { ($0, .raised($0)) }
  }

  /// Clears the sleepers flag, so that all sleepers wake and look again: one of them became more
  /// urgent. `nil`: there are none.
  func roused() -> LaneState? {
    hasSleepers ? LaneState(rawValue: rawValue & ~Self.sleepers) : nil
  }
}

// MARK: Suspension

extension LaneState {
  /// The first suspend(). `nil`: the lane is suspended already.
  @inline(__always)
  func suspendedOnce() -> LaneState? {
    isSuspended ? nil : LaneState(rawValue: rawValue | Self.suspended)
  }

  /// The only suspend() in effect ends. `nil`: there is none, or `Suspension` counts.
  @inline(__always)
  func resumedOnce() -> (state: LaneState, owns: Bool)? {
    isSuspended && !isCounted ? unsuspended() : nil
  }

  /// The same for a lane without work, which no thread comes to own. `nil`: work is queued, too.
  @inline(__always)
  func resumedIdle() -> LaneState? {
    isSuspended && !isCounted && !hasWork
      ? LaneState(rawValue: rawValue & ~Self.suspended) : nil
  }

  /// Suspension ends. `owns`: work is queued and the caller has come to own the lane.
  @inline(__always)
  func unsuspended() -> (state: LaneState, owns: Bool) {
    let next = rawValue & ~(Self.suspended | Self.counted)
    if !isLocked && hasWork && (running == 0 || !awaitsBarrier) {
      return (LaneState(rawValue: next & ~Self.barrier | Self.locked | Self.batch), true)
    }
    return (LaneState(rawValue: next), false)
  }
}
