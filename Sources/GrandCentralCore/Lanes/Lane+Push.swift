// Room: Lanes/Lane+Push. Submits work: one exchange, and an activation if the lane was idle.
import CGrandCentralLinux

extension Lane {
  /// Submits `node`, an item, to the lane or root, and consumes it. Any thread.
  @usableFromInline
  final func submit(_ node: WorkNode, from thread: ThreadContext) {
    submitInline(node, from: thread)
  }

  /// submit(), where a call more is felt.
  @inline(__always)
  final func submitInline(_ node: WorkNode, from thread: ThreadContext) {
    // The rare case is a call of its own, so that the common one saves no registers.
    if WorkNode.isRecorded(from: thread) { return submitRecorded(node, from: thread) }
    pass(node, from: thread)
  }

  @inline(never)
  private final func submitRecorded(_ node: WorkNode, from thread: ThreadContext) {
    BlackBox.recordSubmission(of: node, place: shownPlace, from: thread)
    pass(node, from: thread)
  }

  /// Submits a node that a lane sends: no item, so no recording counts it.
  final func forward(_ node: WorkNode, from thread: ThreadContext) { pass(node, from: thread) }

  @inline(__always)
  private final func pass(_ node: WorkNode, from thread: ThreadContext) {
    if kind == .root {
      submitToRoot(node, from: thread)
    } else {
      push(node, from: thread)
    }
  }

  private final func push(_ node: WorkNode, from thread: ThreadContext) {
    // So the word's line moves once for the look and the exchange, and one seldom fails.
    withUnsafePointer(to: state) { fetchForWriting($0) }
    let traits = node.traits
    // The node may be gone as soon as it is on the list, so the activation's QoS is read now.
    let qos = effectiveQoS(traits)
    // The common word: the lane has an owner, which is urgent enough. A loop of its own, tried
    // once. relaxed: a guess, which the exchange re-checks; nothing else is read by it.
    let seen = state.load(ordering: .relaxed)
    if let next = seen.pushedBehindOwner(node.raw, urgency: qos.rank) {
      node.next = seen.pending.map(WorkNode.init)
      // releasing: the node's contents. The stronger order of pushInFull() is for the other words.
      let (won, _) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .releasing, failureOrdering: .relaxed)
      if won { return next.check(after: seen) }
    }
    pushInFull(node, traits, qos, from: thread)
  }

  @inline(never)
  private final func pushInFull(
    _ node: WorkNode, _ traits: WorkTraits, _ qos: PackedQoS, from thread: ThreadContext
  ) {
    let exclusive = kind != .concurrent || traits.contains(.barrier)
    // A loop of its own: it links the node to each word, and reads the width that belongs to it.
    // A guess that the exchange re-checks. acquiring, also when it fails: `widthNow` must be at
    // least as new as the word.
    var seen = state.load(ordering: .acquiring)
    // The caller keeps the lane alive until the exchange.
    if seen.isSuspended { noteQueuedWhileSuspended() }
    var isKept = false
    while true {
      // The width is on a line that moves with the word: only a shared node reads it.
      let (next, action) = seen.pushed(
        node.raw, exclusive: exclusive, urgency: qos.rank, width: exclusive ? 1 : widthNow)
      node.next = seen.pending.map(WorkNode.init)
      if action == .raised && !isKept {
        // Once queued, the node may run and drop the last reference to this lane, for example as
        // the activation of a lane that targets it.
        _ = Unmanaged.passRetained(self)
        isKept = true
      }
      // releasing: the node's contents, for takePending(). acquiring: with .schedule and .admitted
      // this thread reads the target that the last owner wrote. sequentiallyConsistent: with
      // .raised, see Priority/EffectivePriority.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .sequentiallyConsistent,
        failureOrdering: .acquiring)
      guard won else {
        seen = now
        continue
      }
      next.check(after: seen)
      switch action {
      case .queued: break
      case .raised: raise(next, from: thread)
      case .schedule:
        _ = Unmanaged.passRetained(self)
        sendActivation(qos: qos, from: thread)
      case .admitted(let retains):
        if retains { _ = Unmanaged.passRetained(self) }
        sendAdmitted(node, from: thread)
      }
      break
    }
    if isKept { Unmanaged.passUnretained(self).release() }
  }

  /// Identifies a node that asks for a lane to be drained: see DrainRequests.
  struct DrainRequest {
    let band: Band
    let generation: UInt32

    init(band: Band, generation: UInt32) {
      self.band = band
      self.generation = generation
    }
    init(_ companion: UnsafeMutableRawPointer?) {
      let value = UInt(bitPattern: companion)
      band = Band(rawValue: UInt8(value & 7)) ?? .default
      generation = UInt32(truncatingIfNeeded: value >> 8)
    }
    var companion: UnsafeMutableRawPointer? {
      UnsafeMutableRawPointer(bitPattern: UInt(generation) << 8 | UInt(band.rawValue))
    }
  }

  /// Sends the lane itself, as an item, to its target. The caller owns the lane, which holds
  /// itself; both pass to the activation.
  final func sendActivation(qos: PackedQoS, from thread: ThreadContext) {
    if kind == .bound { return wakeBoundThread() }
    // Once the request is recorded, a raiser's node may take the lane and change the target. A root
    // lives as long as the engine, or as the one queue that owns it; any other target must be
    // retained.
    let target = targetReference.unsafelyUnwrapped
    let isRoot = target._withUnsafeGuaranteedRef { $0.kind == .root }
    if !isRoot { _ = target.retain() }
    // The urgency of the nodes behind the first, as known when the lane was locked.
    let known = state.load(ordering: .relaxed).urgency
    let qos = known > qos.rank ? PackedQoS(band: known) : qos
    let band = qos.rank
    let (sends, generation) = drainRequests.change(.acquiringAndReleasing) { seen in
      let (next, sends) = seen.requesting(band)
      return (next, (sends, next.generation))
    }
    // A raiser may have come after the lock and found the lane neither requested nor owned: see
    // DrainRequests.
    let now = state.load(ordering: .acquiring)
    if now.urgency > band { raise(now, from: thread) }
    if sends {
      target._withUnsafeGuaranteedRef {
        send(DrainRequest(band: band, generation: generation), qos: qos, to: $0, from: thread)
      }
    } else {
      // The node in flight will claim this request, and already holds a reference.
      Unmanaged.passUnretained(self).release()
    }
    if !isRoot { target.release() }
  }

  final func send(
    _ request: DrainRequest, qos: PackedQoS, to target: Lane, from thread: ThreadContext
  ) {
    let node = NodeCache.take(thread)
    node.entry = Self.activationEntry
    node.context = address
    node.companion = request.companion
    node.traits = WorkTraits(qos: qos).union(.lane)
    target.forward(node, from: thread)
  }
}
