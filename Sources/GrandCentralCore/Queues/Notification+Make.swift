// Room: Queues/Notification+Make. The notifications of groups and work items, by what they carry.

extension Notification {
  init(
    _ work: consuming @escaping () -> Void, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    queue: DispatchQueue, on thread: ThreadContext
  ) {
    self.init(.closure(work, qos: qos, flags: flags, on: thread), carriesItem: false, on: queue)
  }

  init(_ item: DispatchWorkItem, queue: DispatchQueue, on thread: ThreadContext) {
    self.init(.item(item, queue: queue, on: thread), carriesItem: true, on: queue)
  }

  /// For groups, which retain themselves until the function is submitted, so it is never discarded.
  /// Discarding would free nothing of a function.
  init(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?, queue: DispatchQueue,
    on thread: ThreadContext
  ) {
    self.init(.function(function, context, on: thread), carriesItem: false, on: queue)
  }

  func discard(on thread: ThreadContext) {
    node.discard(carriesItem: carriesItem, on: thread)
    lane.release()
  }
}
