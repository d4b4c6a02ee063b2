// Room: Coordination/Notification. Work that a group or a work item submits when it is done.

/// A node that is ready to submit, and its lane. The holder calls submit() or discard() once; until
/// then the notification retains the lane. The reference is unmanaged, so moving a list of these
/// counts no references. Queues/Notification+Make creates them.
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

  func submit(from thread: ThreadContext) {
    // SAFETY: retained until the next line.
    lane._withUnsafeGuaranteedRef { $0.submit(node, from: thread) }
    lane.release()
  }
}
