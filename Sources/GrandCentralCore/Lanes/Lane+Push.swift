// Room: Lanes/Lane+Push. How work comes onto a lane: one exchange, and an activation if it was idle.

extension Lane {
  /// Sends `node` on its way. Consumes it. Any thread.
  @usableFromInline
  final func submit(_ node: WorkNode, from thread: ThreadContext) {
    if kind == .root {
      submitToRoot(node, from: thread)
    } else {
      push(node, from: thread)
    }
  }

  private final func push(_ node: WorkNode, from thread: ThreadContext) {
    let exclusive = kind != .concurrent || node.traits.contains(.barrier)
    // The node may be gone as soon as it is on the list, so what the activation needs is read now.
    let qos = node.traits.qos
    // relaxed: a guess that the exchange re-checks.
    var seen = state.load(ordering: .relaxed)
    while true {
      let (next, action) = seen.pushed(node.raw, exclusive: exclusive)
      node.next = seen.pending.map(WorkNode.init)
      // releasing: the node's contents, for takePending(). acquiring: with .schedule and .admitted we
      // read the target that the last owner wrote.
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      guard won else {
        seen = now
        continue
      }
      switch action {
      case .queued: return
      case .schedule:
        _ = Unmanaged.passRetained(self)
        sendActivation(qos: qos, from: thread)
      case .admitted(let retains):
        if retains { _ = Unmanaged.passRetained(self) }
        sendAdmitted(node, from: thread)
      }
      return
    }
  }

  /// Puts the lane itself, as an item, on its target. The caller owns the lane, which holds itself;
  /// both pass to the activation.
  final func sendActivation(qos: PackedQoS, from thread: ThreadContext) {
    if kind == .bound { return wakeBoundThread() }
    let node = NodeCache.take(thread)
    node.entry = Self.activationEntry
    node.context = address
    let band = QoSPropagation.activation(queue: ownQoS, item: qos)
    node.traits = WorkTraits(qos: ownQoS == .unspecified ? band : band.asOfQueue).union(.lane)
    withTarget { $0.submit(node, from: thread) }
  }

  /// Sends a shared item, already counted as running, straight to the target.
  final func sendAdmitted(_ node: WorkNode, from thread: ThreadContext) {
    var sent = node
    if node.traits.contains(.carried) {
      // It already carries the count of a lane below this one; put it into a node of its own.
      sent = NodeCache.take(thread)
      sent.entry = Self.wrappedEntry
      sent.companion = node.raw
    }
    let qos = QoSPropagation.effective(item: node.traits.qos, queue: ownQoS)
    sent.traits = WorkTraits(qos: qos).union(.carried)
    sent.carrier = address
    withTarget { $0.submit(sent, from: thread) }
  }

  /// Runs the node inside a node, which brings its own carrier.
  private static let wrappedEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let inner = node.companion.unsafelyUnwrapped
    NodeCache.put(node, thread)
    WorkNode(inner).run(on: thread)
  }
}
