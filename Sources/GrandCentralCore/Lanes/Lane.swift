// Room: Lanes/Lane. One drainable list with its state word: the engine's side of every queue.
// Access to each field:
//   state           any thread, through the transitions of LaneState
//   changeEpoch     any thread adds to it; the drainer reads it between two items
//   batch           the lane's owner only: nodes taken from pending, oldest first; in a workloop
//                   the most urgent first
//   target          written under the hierarchy lock, while the lane is inactive or held alone;
//                   read by a holder of the lane (owner or running), or under that lock
//   owner           the address of the context of the thread inside: for messages, self-deadlock
//                   checks and boosts (Lane+Override). The entering thread stores it with
//                   releasing, for the acquiring load of a raiser, which reads the context; relaxed
//                   elsewhere
//   level           the drainer only: the urgency of the word as the drainer knows it
//   isImmortal      written before another thread can reach the lane
//   pendingRecheck  the owner only: what to find out before the next item, see Lane+Override
//   inherited       written with the target, and by readInherited(); any thread may read it, and a
//                   stale value is harmless
//   width           written by a thread that holds the lane alone; read by any thread, after the
//                   state word that it belongs to
//   drainRequests   the nodes sent to have the lane drained: see DrainRequests
//   suspension      0 unless the state word says `counted`; any thread changes it from one other
//                   value to another, and a thread with control to 0 and back: see Lane+Suspend
// `state` lies a cache line away from the fields that the drainer reads per item. Submitters write
// `state` all the time; the other line stays in the drainer's cache.

@usableFromInline typealias Lane = _Lane

/// The engine's side of a queue. Programs do not use it; it is public because `DispatchQueue`
/// derives from it.
public class _Lane: DispatchObject {
  enum Kind: UInt8 {
    /// Runs one item at a time.
    case serial
    /// Runs items at the same time, and barriers alone.
    case concurrent
    /// Keeps no list: passes its nodes to the pool or to a run loop. Every hierarchy ends in a
    /// root, except the main queue's.
    case root
    /// Serial, and drained by no worker: the main queue is by the main thread while that lives, a
    /// hosted queue by its host, on one thread at a time.
    case bound
  }

  final let changeEpoch = Atomic<UInt32>(0)
  final let control = Lock()
  final let suspension: Atomic<Suspension>
  // These three bytes fill the padding after `suspension`: a program may have a million queues.
  @Cell final var level = Band.unspecified
  @Cell final var pendingRecheck = PendingRecheck.nothing
  /// A queue of the engine that lives as long as the process. Lanes that target it do not retain
  /// it.
  @Cell final var isImmortal = false
  /// The queue's own QoS, packed. If unspecified, the QoS of each item counts. Only setQoS()
  /// changes it.
  final let givenQoS: Atomic<UInt16>
  /// The packed QoS that the targets hand down: see QoSPropagation.
  final let inherited: Atomic<UInt16>
  @Cell final var batch: WorkNode? = nil
  @Cell final var targetReference: Unmanaged<Lane>? = nil
  final let specifics = Atomic<UInt>(0)
  final let drainRequests = Atomic<DrainRequests>(DrainRequests(rawValue: 0))
  @usableFromInline final let owner = Atomic<UInt>(0)
  @usableFromInline final let state: Atomic<LaneState>
  final let kind: Kind
  /// The bit number of `syncToken`.
  @usableFromInline final let syncShift: UInt8
  /// How many holders the lane admits at the same time: see Lane+Width. The thread sanitizer's
  /// runtime reads this field and the target at their offsets, which must stay below 128 bytes.
  final let width: Atomic<UInt16>
  /// The slot in the registry. The lock of that part of the registry guards it.
  @Cell final var registeredSlot = LaneRegistry.nowhere
  /// The generation of the board that has a record of the lane: see Lane+Board.
  final let boardGeneration = Atomic<UInt32>(0)
  /// Whether the owner serves the list in the order of the nodes' bands: see Lane+BandOrder. Only a
  /// serial lane does. It lies beside `kind`, which the drainer reads for each item anyway.
  final let ordersByBand: Bool

  /// The caller keeps `target` alive until this returns. The initialiser counts no references,
  /// since many queues live only briefly.
  /// `isRegistered`: the registry lists the lane. If not, the creator must make sure that a forked
  /// child finds it.
  init(
    kind: Kind, qos: PackedQoS, target: Unmanaged<Lane>?, isInactive: Bool = false,
    isRegistered: Bool = true, ordersByBand: Bool = false
  ) {
    self.kind = kind
    self.ordersByBand = ordersByBand
    givenQoS = Atomic(qos.halfWord)
    let isSerial = kind == .serial || kind == .bound
    width = Atomic(isSerial ? 1 : UInt16(LaneState.defaultWidth))
    let token = kind == .concurrent ? LaneState.oneRunning : LaneState.locked
    syncShift = UInt8(token.trailingZeroBitCount)
    var word: UInt64 = 0
    switch kind {
    // The inlined sync() must never find a root idle: a root cannot be entered.
    case .root: word |= LaneState.targeted
    case .bound: word |= LaneState.bound
    case .serial, .concurrent:
      if let kind = target?._withUnsafeGuaranteedRef({ $0.kind }), kind != .root {
        word |= LaneState.targeted
      }
    }
    if isInactive {
      word |= LaneState.suspended | LaneState.counted
    }
    suspension = Atomic(isInactive ? .inactive : Suspension())
    state = Atomic(LaneState(rawValue: word))
    inherited = Atomic(target?._withUnsafeGuaranteedRef { $0.handedDown.halfWord } ?? 0)
    targetReference = target?.keptAsTarget()
    super.init()
    if isRegistered { LaneRegistry.add(address) { registeredSlot = $0 } }
  }

  deinit {
    leaveBoard()
    if registeredSlot != LaneRegistry.nowhere {
      LaneRegistry.remove(from: registeredSlot)
    }
    CurrentQueueLabels.willDie()
    requireReleasable()
    if let target = $targetReference {
      target._withUnsafeGuaranteedRef { endAttachment(on: $0) }
      target.releaseAsTarget()
    }
  }

  /// The name for messages.
  var laneLabel: String { "" }

  /// The label that a thread shows while it works on this lane; `.none` for a lane without a name,
  /// such as a source.
  var labelIdentity: LabelIdentity { .none }
  /// The label as a thread's name, and the string that must live as long as the identity is
  /// compared.
  var labelAsThreadName: (name: ThreadName, kept: String) { (ThreadName(laneLabel), "") }

  /// The word of an idle lane after sync() enters it: locked, or one running.
  @inlinable @inline(__always)
  final var syncToken: LaneState { LaneState(rawValue: 1 &<< UInt64(syncShift)) }

  /// Passes the node to whatever runs it. Only for a root. Overridden by Queues/GlobalQueue and
  /// RunLoopQueue.
  func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    engineFault("Queue '\(laneLabel)' is no root.")
  }

  /// Passes a list of `count` items, from the oldest to the newest, all counted by one lane and
  /// sent with the same QoS. `isBehindMany`: that lane has sent many others before. Only for a
  /// root. Overridden by Queues/GlobalQueue, which passes them at once.
  func submitToRoot(
    _ oldest: WorkNode, count: Int, isBehindMany: Bool, from thread: ThreadContext
  ) {
    var rest: WorkNode? = oldest
    while let node = rest {
      rest = node.next
      submitToRoot(node, from: thread)
    }
  }

  /// The target of a lane that is given none.
  var defaultTarget: Lane { engineFault("Queue '\(laneLabel)' has no default target.") }

  /// Handles an event. Only for a lane that waits for events. Any thread.
  func eventCame(on thread: ThreadContext) {
    engineFault("Queue '\(laneLabel)' waits for no event.")
  }

  /// In a forked child: forgets the event whose node is no longer on the lane.
  func dropEvents() {}

  /// Whether the lane has at most one node in flight, however urgent it becomes: its root has no
  /// bands.
  var isRequestedOnce: Bool { false }

  /// The lane that runs the finalizer of an object that had this lane as its target.
  var finalizerTarget: Lane { self }

  /// Inserts a list of nodes, oldest first, into the private list. Only for the owner of a lane
  /// that orders its list. Overridden by Queues/DispatchWorkloop.
  func insertByBand(_ oldest: WorkNode) {
    engineFault("Queue '\(laneLabel)' keeps the order of submission.")
  }

  /// How many items an activation runs at most before it moves behind other work of the target:
  /// fewer on a lane (Tuning.quotaOnLane).
  var drainQuota: Int { 1024 }

  /// Wakes the thread of a bound lane: there is work. Overridden by Queues/MainQueue
  /// and HostedQueue.
  func wakeBoundThread() {
    engineFault("Queue '\(laneLabel)' is bound to no thread.")
  }

  /// The kind that the board shows. Overridden by HostedQueue, which is not the main queue.
  var kindOnBoard: Kind { kind }

  /// The thread that drains a bound lane; `nil`: none does now. Overridden by Queues/HostedQueue.
  var boundThread: ThreadContext? { ThreadRegistry.mainThread }

  /// Whether this bound lane belongs to `thread`, which calls.
  func isBoundTo(_ thread: ThreadContext) -> Bool { thread == boundThread }

  override final func runCarried(_ node: WorkNode, on thread: ThreadContext) {
    runAdmitted(node, on: thread)
  }

  override final func placeOnBoard() -> UInt32 { shownPlace }
  override func placeOfItems() -> (place: UInt32, isSource: Bool) { (shownPlace, false) }

  override final func changeTarget(to queue: DispatchObject?) {
    retarget(to: queue.map { unsafeDowncast($0, to: Lane.self) } ?? defaultTarget)
  }
  override public func activate() { activateLane() }
  override public final func suspend() { suspendLane() }
  override public func resume() { resumeLane(activates: false, whenActivated: {}) }
}

extension Lane {
  /// The target. Only for a holder of the lane, or under the hierarchy lock.
  final var target: Lane? { targetReference?._withUnsafeGuaranteedRef { $0 } }

  /// Calls `body` with the target and counts no references. Only for a holder of the lane, and
  /// never for a root or the main queue: every other lane has a target.
  @inline(__always)
  final func withTarget<Result>(_ body: (Lane) -> Result) -> Result {
    // SAFETY: while the lane is held, its target is fixed, and the lane keeps it alive.
    targetReference.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  /// The QoS that this lane hands down to the lanes that target it.
  @inline(__always)
  final var handedDown: PackedQoS {
    // A root has no target.
    kind == .root
      ? ownQoS
      : QoSPropagation.handedDown(
        queue: ownQoS, inherited: inheritedQoS, isMain: kind == .bound)
  }

  // relaxed: a submitter that races with setQoS() may use either value.
  @inline(__always)
  final var ownQoS: PackedQoS { PackedQoS(halfWord: givenQoS.load(ordering: .relaxed)) }

  /// Sets the own QoS of a lane that was never activated, or its floor: the minimum for its items.
  /// Returns false and changes nothing on an active lane, whose QoS has already been propagated.
  @discardableResult
  package final func setQoS(_ qos: DispatchQoS, isFloor: Bool = false) -> Bool {
    control.withLock {
      guard isInactive else { return false }
      let packed = PackedQoS(qos)
      let isFloor = isFloor && packed.band != .unspecified
      givenQoS.store((isFloor ? packed.floor : packed).halfWord, ordering: .relaxed)
      return true
    }
  }

  // relaxed: a stale value belongs to the old target, and a racing submitter may use it.
  @inline(__always)
  final var inheritedQoS: PackedQoS { PackedQoS(halfWord: inherited.load(ordering: .relaxed)) }

  /// The QoS at which a node runs on this lane. For a node that a lane below sent: the QoS that it
  /// contributes.
  @inline(__always)
  final func effectiveQoS(_ traits: WorkTraits) -> PackedQoS {
    if !traits.isDisjoint(with: [.lane, .carried]) {
      return QoSPropagation.activation(of: traits.qos, queue: ownQoS, inherited: inheritedQoS)
    }
    return QoSPropagation.effective(item: traits.qos, queue: ownQoS, inherited: inheritedQoS)
  }

  /// Whether the lane was never activated. It remains so while the caller holds the control lock.
  // relaxed: only a thread that holds the lock changes that.
  final var isInactive: Bool { suspension.load(ordering: .relaxed).isInactive }

  final var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

extension ThreadContext {
  /// The value of a lane's owner word while this thread is inside.
  @inlinable @inline(__always)
  var ownerWord: UInt { UInt(bitPattern: self) }
}

extension Lane: CurrentQueueLabel {
  var currentQueueLabel: String { laneLabel }
}
