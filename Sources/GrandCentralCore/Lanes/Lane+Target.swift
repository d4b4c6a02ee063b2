// Room: Lanes/Lane+Target. A lane's target queue, and how it changes while the lane works.
// A change is a barrier item of the lane. When it runs, the lane is held alone, so no other holder
// reads `target`, and all earlier items have run under the old target. The drainer then sends the
// lane to its new target.
// Two kinds of lane change at once: an inactive lane, which runs nothing, and an idle lane, which
// the caller holds for a moment. Work that is submitted next then has the new target's class from
// the start.
// Each write happens under the hierarchy lock (HierarchyLock).
import CGrandCentralLinux

extension Lane {
  final func retarget(to target: Lane) {
    require(
      kind != .root,
      "setTarget(queue:) on the global queue '\(laneLabel)'. Use a queue of your own.")
    require(
      kind != .bound, "setTarget(queue:) on the main queue. It always runs on the main thread.")
    let thread = currentThread()
    if let change = changeAtOnce(to: target, on: thread) {
      change.old?.releaseAsTarget()
      return
    }
    // The lane is busy. It stops the caller, not the thread that will run the item.
    if let loop = Self.hierarchyLock.lock.withLock({ loop(through: target) }) { clientFault(loop) }
    let node = NodeCache.take(thread)
    node.entry = Self.retargetEntry
    node.context = address
    node.companion = Unmanaged.passRetained(target).toOpaque()
    node.traits = WorkTraits(qos: .unspecified, barrier: true)
    submit(node, from: thread)
  }

  /// How a change of the target ended.
  private enum Change {
    /// The caller releases the old target without a lock.
    case made(old: Unmanaged<Lane>?)
    /// It would close a loop. The message says which.
    case loops(String)

    /// The old target. Stops the process if there is a loop: call it without a lock.
    var old: Unmanaged<Lane>? {
      switch self {
      case .made(let old): return old
      case .loops(let message): clientFault(message)
      }
    }
  }

  /// Changes the target of an idle or inactive lane. `nil`: the lane is busy.
  private final func changeAtOnce(to target: Lane, on thread: ThreadContext) -> Change? {
    var change: Change?
    if holdIfIdle(on: thread, { change = adopt(target) }) { return change }
    return control.withLock {
      // Work for an inactive lane is only queued, and its sync() callers wait in line.
      isInactive ? adopt(target) : nil
    }
  }

  private static let retargetEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let lane = Unmanaged<Lane>.fromOpaque(node.context.unsafelyUnwrapped)
    let target = Unmanaged<Lane>.fromOpaque(node.companion.unsafelyUnwrapped)
    NodeCache.put(node, thread)
    // If this runs inside the old target's drain, that target holds itself until the drain ends.
    lane._withUnsafeGuaranteedRef { $0.adopt(target.takeRetainedValue()).old?.releaseAsTarget() }
  }

  /// Changes the target of a lane that is inactive or held alone, unless that closes a loop.
  private final func adopt(_ target: Lane) -> Change {
    let handedBefore = inheritedQoS
    let change = Self.hierarchyLock.lock.withLock {
      if let loop = loop(through: target) { return Change.loops(loop) }
      let old = targetReference
      targetReference = Unmanaged.passUnretained(target).keptAsTarget()
      inherited.store(target.handedDown.halfWord, ordering: .relaxed)
      return .made(old: old)
    }
    if case .loops = change { return change }
    noteTarget(target)
    // A node sent to the old target would drain the lane where it no longer belongs.
    drainRequests.transition(to: { $0.withdrawn() })
    if target.kind == .root {
      state.clear(LaneState.targeted)
    } else {
      state.set(LaneState.targeted)
    }
    // The records on the private list were made under the old target.
    if inheritedQoS != handedBefore && batch != nil { pendingRecheck = .notes }
    noteChange()
    return change
  }

  /// The message for a client whose `target` leads back to this lane; `nil`: it does not. Under the
  /// hierarchy lock, without which the caller stops the process: a handler of the signal may use
  /// queues.
  private final func loop(through target: Lane) -> String? {
    guard leads(from: target, to: self) else { return nil }
    var names = ["'\(laneLabel)'", "'\(target.laneLabel)'"]
    var next = target
    while next !== self, let lane = next.target {
      names.append("'\(lane.laneLabel)'")
      next = lane
    }
    return """
      setTarget(queue:) makes a loop of target queues: \(names.joined(separator: " → ")). \
      Work on them could never run. Target a queue that does not lead back to '\(laneLabel)'.
      """
  }

  /// Whether `goal` is `lane` or one of its targets. Counts no references.
  private final func leads(from lane: Lane, to goal: Lane) -> Bool {
    var next: Unmanaged<Lane>? = Unmanaged.passUnretained(lane)
    while let lane = next {
      if lane.toOpaque() == goal.address { return true }
      // SAFETY: each lane keeps its target, and under the lock none changes.
      next = lane._withUnsafeGuaranteedRef { $0.targetReference }
    }
    return false
  }
}

extension Unmanaged<Lane> {
  /// Retains the lane as the target of another, until releaseAsTarget().
  @inline(__always)
  func keptAsTarget() -> Unmanaged {
    _withUnsafeGuaranteedRef { $0.isImmortal } ? self : retain()
  }

  @inline(__always)
  func releaseAsTarget() { if !_withUnsafeGuaranteedRef({ $0.isImmortal }) { release() } }
}
