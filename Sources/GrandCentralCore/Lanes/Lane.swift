// Room: Lanes/Lane. One drainable list with its state word: the engine's side of every queue.
// Whose is what:
//   state      everybody's, by the transitions of LaneState
//   attention  anybody adds, the drainer reads between two items
//   batch      the lane's owner's: nodes taken from pending, oldest first
//   target     written by an owner under the hierarchy lock; read by whoever holds the lane (owner or
//              running), or under that lock
//   owner      the thread inside, as its context's address, for messages and self-deadlocks, and for
//              raising it: see Lane+Override. releasing where a thread puts itself there, for the
//              acquiring load of a raiser, which reads the context; relaxed elsewhere
//   level      the lane's owner's, while it drains: what it knows the word's urgency to be
//   isEverlasting  written before anybody else knows the lane
//   unsettled  the lane's owner's: what it has to find out before the next item, see Lane+Override
//   inherited  written where the target is; read by anybody, to whom an old value does no harm
//   width      written by who holds the lane alone; read by anybody, after the word that it is to go by
//   summons    who has been asked to drain the lane: see Summons
//   suspension guarded by control, and empty unless the word says that it counts: see Lane+Suspend
// `state` stands a cache line away from what the drainer reads per item: submitters write the one
// all the time, so the other stays in the drainer's cache.

@usableFromInline typealias Lane = _Lane

/// The engine's side of a queue. Not for use by programs; named here because `DispatchQueue` derives
/// from it.
public class _Lane: DispatchObject {
  enum Kind: UInt8 {
    /// One item at a time.
    case serial
    /// Items at the same time, barriers alone.
    case concurrent
    /// Not a lane at all: gives its nodes to whatever runs them, the pool or a run loop. The end of every hierarchy but
    /// the main one.
    case root
    /// Serial, and drained by one thread: the main queue.
    case bound
  }

  final let attention = Atomic<UInt32>(0)
  final let control = Lock()
  @Cell final var suspension = Suspension()
  // Three bytes in the gap that the one before leaves: there may be a million queues.
  @Cell final var level = Band.unspecified
  @Cell final var unsettled = Unsettled.nothing
  /// It is a queue of the engine's own, which lives as long as the process: nobody who targets it counts for it.
  @Cell final var isEverlasting = false
  /// The queue's own QoS, packed; or unspecified: then each item's counts. Changed by setQoS() alone.
  final let givenQoS: Atomic<UInt16>
  /// What the targets hand down, packed: see QoSPropagation.
  final let inherited: Atomic<UInt16>
  @Cell final var batch: WorkNode? = nil
  @Cell final var targetReference: Unmanaged<Lane>? = nil
  final let specifics = Atomic<UInt>(0)
  final let summons = Atomic<Summons>(Summons(rawValue: 0))
  @usableFromInline final let owner = Atomic<UInt>(0)
  @usableFromInline final let state: Atomic<LaneState>
  final let kind: Kind
  /// By which bit: see `syncToken`.
  @usableFromInline final let syncShift: UInt8
  /// How many may be inside together: see Lane+Width. For the thread sanitizer's runtime too, which reads it where it
  /// is, within 128 bytes; and so it does the target.
  final let width: Atomic<UInt16>
  /// Where it stands in its part of the registry, whose lock guards it.
  @Cell final var registeredPlace = LaneRegistry.nowhere

  /// `target`: kept by the caller until this returns; no count of references on the way, since queues are made for a moment.
  /// `isRegistered`: it is to be found in the registry. If not, whoever makes it sees to it that a child finds it.
  init(
    kind: Kind, qos: PackedQoS, target: Unmanaged<Lane>?, isInactive: Bool = false,
    isRegistered: Bool = true
  ) {
    self.kind = kind
    givenQoS = Atomic(qos.halfWord)
    let isSerial = kind == .serial || kind == .bound
    width = Atomic(isSerial ? 1 : UInt16(LaneState.mostRunning))
    let token = kind == .concurrent ? LaneState.oneRunning : LaneState.locked
    syncShift = UInt8(token.trailingZeroBitCount)
    var word: UInt64 = 0
    switch kind {
    // A root is never idle to the inlined sync(): there is nothing to take.
    case .root: word |= LaneState.targeted
    case .bound: word |= LaneState.bound
    case .serial, .concurrent:
      if let kind = target?._withUnsafeGuaranteedRef({ $0.kind }), kind != .root {
        word |= LaneState.targeted
      }
    }
    if isInactive {
      word |= LaneState.suspended | LaneState.counted
      suspension = .inactive
    }
    state = Atomic(LaneState(rawValue: word))
    inherited = Atomic(target?._withUnsafeGuaranteedRef { $0.handedDown.halfWord } ?? 0)
    targetReference = target?.keptAsTarget()
    super.init()
    if isRegistered { LaneRegistry.add(Unmanaged.passUnretained(self)) }
  }

  deinit {
    if registeredPlace != LaneRegistry.nowhere {
      LaneRegistry.remove(Unmanaged.passUnretained(self))
    }
    Workplaces.willDie()
    requireNotSuspended(counted: $suspension)
    releaseSpecifics()
    if let target = $targetReference {
      target._withUnsafeGuaranteedRef { endAttachment(on: $0) }
      target.releaseAsTarget()
    }
  }

  /// What messages call it.
  var laneLabel: String { "" }

  /// The label that a thread carries while it works here; `.none` for what has no name of its own,
  /// as sources.
  var labelIdentity: LabelIdentity { .none }
  /// The same as a thread's name; and what is kept for as long as the identity is to be compared
  /// with others.
  var labelAsThreadName: (name: ThreadName, kept: String) { (ThreadName(laneLabel), "") }

  /// What an idle lane's word becomes when sync() takes it: locked, or one running.
  @inlinable @inline(__always)
  final var syncToken: LaneState { LaneState(rawValue: 1 &<< UInt64(syncShift)) }

  /// For a root: gives the node to whatever runs it.
  func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    engineFault("Queue '\(laneLabel)' is no root.")
  }

  /// The target of a lane that asks for none.
  var defaultTarget: Lane { engineFault("Queue '\(laneLabel)' has no default target.") }

  /// For a lane that waits for events: one has come. Any thread.
  func eventCame(on thread: ThreadContext) {
    engineFault("Queue '\(laneLabel)' waits for no event.")
  }

  /// In a child that was forked: what was on its way to this lane is not.
  func forgetParent() {}

  /// Whether it is sent to its root once, however urgent it becomes: a root without bands.
  var isSummonedOnce: Bool { false }

  /// For a target: where the finalizer runs of what dies with it as its target.
  var finalizerTarget: Lane { self }

  /// How many items an activation runs before what else waits on the target has its turn.
  var drainQuota: Int { 1024 }

  /// For a bound lane: tells its thread that there is work.
  func wakeBoundThread() {
    engineFault("Queue '\(laneLabel)' is bound to no thread.")
  }

  override final func runCarried(_ node: WorkNode, on thread: ThreadContext) {
    runAdmitted(node, on: thread)
  }

  override public final func setTarget(queue: DispatchQueue) { retarget(to: queue) }
  override final func resetTarget() { retarget(to: defaultTarget) }
  override public func activate() { activateLane() }
  override public final func suspend() { suspendLane() }
  override public func resume() { resumeLane(activates: false, whenActivated: {}) }
}

extension Lane {
  /// Only for holders of the lane, or under the hierarchy lock.
  final var target: Lane? { targetReference?._withUnsafeGuaranteedRef { $0 } }

  /// Calls `body` with the target, without counting references. Only for holders of a lane, and never
  /// for a root or the main queue: all others have a target.
  @inline(__always)
  final func withTarget<Result>(_ body: (Lane) -> Result) -> Result {
    // SAFETY: the target is fixed, and kept by this lane, while the lane is held.
    targetReference.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  /// What this lane hands down to those that target it.
  @inline(__always)
  final var handedDown: PackedQoS {
    // A root has no target.
    kind == .root
      ? ownQoS
      : QoSPropagation.handedDown(
        queue: ownQoS, inherited: inheritedQoS, isMain: kind == .bound)
  }

  // relaxed: who submits beside setQoS() goes by the one or the other.
  @inline(__always)
  final var ownQoS: PackedQoS { PackedQoS(halfWord: givenQoS.load(ordering: .relaxed)) }

  /// Gives a lane that was never activated another QoS of its own, or a floor: the least that its items run at. Returns
  /// false, and does nothing, when it is active: what its QoS has led to is everywhere.
  @discardableResult
  package final func setQoS(_ qos: DispatchQoS, isFloor: Bool = false) -> Bool {
    control.withLock {
      guard suspension.isInactive else { return false }
      let packed = PackedQoS(qos)
      let isFloor = isFloor && packed.band != .unspecified
      givenQoS.store((isFloor ? packed.floor : packed).halfWord, ordering: .relaxed)
      return true
    }
  }

  // relaxed: an old value is that of the old target, which a submitter may go by.
  @inline(__always)
  final var inheritedQoS: PackedQoS { PackedQoS(halfWord: inherited.load(ordering: .relaxed)) }

  /// What a node runs at on this lane; or brings to it, where a lane that targets this one sent it.
  @inline(__always)
  final func effectiveQoS(_ traits: WorkTraits) -> PackedQoS {
    if !traits.isDisjoint(with: [.lane, .carried]) {
      return QoSPropagation.activation(of: traits.qos, queue: ownQoS, inherited: inheritedQoS)
    }
    return QoSPropagation.effective(item: traits.qos, queue: ownQoS, inherited: inheritedQoS)
  }

  final var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

extension ThreadContext {
  /// What a lane's owner word says while this thread is inside.
  @inlinable @inline(__always)
  var ownerWord: UInt { UInt(bitPattern: self) }
}

extension Lane: Workplace {
  var workplaceLabel: String { laneLabel }
}
