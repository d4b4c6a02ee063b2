// Room: Coordination/Notification. Work that a group or a work item submits when it is done.

/// A node that is ready to submit, and its lane, retained. The holder calls submit() once, and
/// releaseLane() afterwards; or it calls discard(). The reference is unmanaged, so moving a list of
/// these counts no references. Queues/Notification+Make creates them.
struct Notification {
  let node: WorkNode
  let lane: Unmanaged<Lane>
  /// Whether the node carries a work item instead of a closure.
  let carriesItem: Bool
  /// For a group: the generation whose end submits this.
  private(set) var generation: UInt32 = 0

  init(_ node: WorkNode, carriesItem: Bool, on lane: Lane) {
    self.node = node
    self.lane = .passRetained(lane)
    self.carriesItem = carriesItem
  }

  func due(at generation: UInt32) -> Notification {
    var due = self
    due.generation = generation
    return due
  }

  /// Submits the node. Runs no code of the program, so the caller may hold the lock of the object
  /// that notifies.
  func submit(from thread: ThreadContext) {
    // SAFETY: retained until releaseLane().
    lane._withUnsafeGuaranteedRef { $0.submit(node, from: thread) }
  }

  /// Releases the lane. Call without a lock: the last release of a queue destroys its specific
  /// values, which is code of the program.
  func releaseLane() { lane.release() }
}
