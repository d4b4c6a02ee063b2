// Room: Lanes/Lane+Target. Where a lane sends itself, and how that changes while it works.
// A change is a barrier item of the lane: when it runs, the lane is held alone, so no other holder
// reads `target`, and all that was submitted before has run under the old one. The drainer then sends
// the lane to its new target. An inactive lane is changed at once: nothing can be at work on it. So
// is an idle one, which is held for a moment: what is submitted next has the new target's class
// from the start. The hierarchy lock guards every write of any `target`, so that a walk under it is
// safe.
import CLinux

extension Lane {
  static let hierarchyLock = HierarchyLock()

  final func retarget(to target: Lane) {
    require(
      kind != .root,
      "setTarget(queue:) on the global queue '\(laneLabel)'. Use a queue of your own.")
    require(
      kind != .bound, "setTarget(queue:) on the main queue. It always runs on the main thread.")
    Self.hierarchyLock.lock.withLock { failOnLoop(through: target) }
    let thread = currentThread()
    if let old = changeAtOnce(to: target, on: thread) { return old.releaseAsTarget() }
    let node = NodeCache.take(thread)
    node.entry = Self.retargetEntry
    node.context = address
    node.companion = Unmanaged.passRetained(target).toOpaque()
    node.traits = WorkTraits(qos: .unspecified, barrier: true)
    submit(node, from: thread)
  }

  /// Returns the old target, which the caller releases without a lock; `nil`: the lane is at work.
  private final func changeAtOnce(to target: Lane, on thread: ThreadContext) -> Unmanaged<Lane>? {
    let old = control.withLock {
      // Work that was submitted to an inactive lane is only queued; sync() callers wait in line.
      suspension.isInactive ? adopt(target) : nil
    }
    if let old { return old }
    var replaced: Unmanaged<Lane>?
    _ = holdIfIdle(on: thread) { replaced = adopt(target) }
    return replaced
  }

  private static let retargetEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let lane = Unmanaged<Lane>.fromOpaque(node.context.unsafelyUnwrapped)
    let target = Unmanaged<Lane>.fromOpaque(node.companion.unsafelyUnwrapped)
    NodeCache.put(node, thread)
    // The old target, should this run inside its drain, holds itself until that has ended.
    lane._withUnsafeGuaranteedRef { $0.adopt(target.takeRetainedValue())?.releaseAsTarget() }
  }

  /// Changes the target of a lane that is held alone. Returns the old one, which the caller
  /// releases.
  private final func adopt(_ target: Lane) -> Unmanaged<Lane>? {
    let handedBefore = inheritedQoS
    let old = Self.hierarchyLock.lock.withLock {
      failOnLoop(through: target)
      let old = targetReference
      targetReference = Unmanaged.passUnretained(target).keptAsTarget()
      inherited.store(target.handedDown.halfWord, ordering: .relaxed)
      return old
    }
    // Who was asked before would drain it where it no longer belongs.
    summons.change { ($0.withdrawn(), ()) }
    if target.kind == .root {
      state.clear(LaneState.targeted)
    } else {
      state.set(LaneState.targeted)
    }
    // What is noted of the private list was asked under the old target.
    if inheritedQoS != handedBefore && batch != nil { unsettled = .notes }
    noteChange()
    return old
  }

  /// Stops when `target` leads back to this lane. Under the hierarchy lock.
  private final func failOnLoop(through target: Lane) {
    var path = [self]
    var next: Lane? = target
    while let lane = next {
      path.append(lane)
      if lane === self {
        let names = path.map { "'\($0.laneLabel)'" }.joined(separator: " → ")
        clientFault(
          """
          setTarget(queue:) makes a loop of target queues: \(names). Work on them could never run. \
          Target a queue that does not lead back to '\(laneLabel)'.
          """)
      }
      next = lane.target
    }
  }
}

/// One for the process: hierarchies are changed rarely and share their upper parts.
final class HierarchyLock: @unchecked Sendable {
  let lock = Lock()
  /// Guarded by the lock: threads that have waited for long, and for which lane. See WaitGraph.
  @Cell var waiters: [WaitGraph.Link] = []
}

extension Unmanaged<Lane> {
  /// As a lane keeps its target, until releaseAsTarget().
  @inline(__always)
  func keptAsTarget() -> Unmanaged {
    _withUnsafeGuaranteedRef { $0.isEverlasting } ? self : retain()
  }

  @inline(__always)
  func releaseAsTarget() { if !_withUnsafeGuaranteedRef({ $0.isEverlasting }) { release() } }
}
