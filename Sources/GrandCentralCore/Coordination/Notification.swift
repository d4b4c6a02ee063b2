// Room: Coordination/Notification. Work that a group or a work item submits when it is done.

/// A node that is ready to submit, and its queue. The holder calls submit() or discard() once;
/// until then the notification retains the queue. The reference is unmanaged, so moving a list of
/// these counts no references.
struct Notification {
  let node: WorkNode
  private let queue: Unmanaged<DispatchQueue>
  /// Whether the node carries a work item instead of a closure.
  let carriesItem: Bool
  /// For a group: the generation whose end submits this.
  private(set) var generation: UInt32 = 0

  init(
    _ work: consuming @escaping () -> Void, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    queue: DispatchQueue, on thread: ThreadContext
  ) {
    node = .closure(work, qos: qos, flags: flags, on: thread)
    self.queue = .passRetained(queue)
    carriesItem = false
  }

  init(_ item: DispatchWorkItem, queue: DispatchQueue, on thread: ThreadContext) {
    node = .item(item, queue: queue, on: thread)
    self.queue = .passRetained(queue)
    carriesItem = true
  }

  /// For groups, which retain themselves until the function is submitted, so it is never discarded.
  /// Discarding would free nothing of a function.
  init(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?, queue: DispatchQueue,
    on thread: ThreadContext
  ) {
    node = .function(function, context, on: thread)
    self.queue = .passRetained(queue)
    carriesItem = false
  }

  func due(at generation: UInt32) -> Notification {
    var due = self
    due.generation = generation
    return due
  }

  func submit(from thread: ThreadContext) {
    // SAFETY: retained until the next line.
    queue._withUnsafeGuaranteedRef { $0.submit(node, from: thread) }
    queue.release()
  }

  func discard(on thread: ThreadContext) {
    node.discard(carriesItem: carriesItem, on: thread)
    queue.release()
  }
}
