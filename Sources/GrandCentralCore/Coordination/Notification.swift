// Room: Coordination/Notification. Work that a group or a work item submits when it is done.

/// A node, ready to be submitted, and where to. Whoever has it calls submit() or discard(), once; it keeps the queue
/// until then. Not by a strong reference: lists of these are then moved without counting.
struct Notification {
  let node: WorkNode
  private let queue: Unmanaged<DispatchQueue>
  /// Whether the node carries a work item, not a closure.
  let carriesItem: Bool
  /// For a group: the generation whose end this waits for.
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

  /// For groups, which hold themselves until it is submitted: a function that is not called frees nothing.
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
    // SAFETY: kept until the line after.
    queue._withUnsafeGuaranteedRef { $0.submit(node, from: thread) }
    queue.release()
  }

  func discard(on thread: ThreadContext) {
    node.discard(carriesItem: carriesItem, on: thread)
    queue.release()
  }
}
