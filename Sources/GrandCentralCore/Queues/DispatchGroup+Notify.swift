// Room: Queues/DispatchGroup+Notify. Submits work when a group becomes empty.

extension DispatchGroup {
  /// Submits `work` to `queue` when the group becomes empty, or at once if it is empty.
  ///
  /// Call from any thread. Notifications are submitted in the order of the calls. They keep the
  /// group alive until then.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work; by default the caller's, but at most user-initiated. A relative
  ///     priority outside 0 … -15 stops the process.
  ///   - flags: the attributes of the work.
  ///   - queue: the queue that runs the work.
  ///   - work: the closure to submit; runs once.
  /// - Source: `dispatch_group_notify(3)`.
  public func notify(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
    execute work: @escaping () -> Void
  ) {
    let thread = currentThread()
    register(Notification(work, qos: qos, flags: flags, queue: queue, on: thread), on: thread)
  }

  /// Submits a work item to `queue` when the group becomes empty, or at once if it is empty.
  ///
  /// Call from any thread. The order is that of `notify(qos:flags:queue:execute:)`.
  ///
  /// - Parameters:
  ///   - queue: the queue that runs the item.
  ///   - work: the item to submit; it runs with its own QoS and flags.
  /// - Source: `dispatch_group_notify(3)`.
  public func notify(queue: DispatchQueue, work: DispatchWorkItem) {
    let thread = currentThread()
    register(Notification(work, queue: queue, on: thread), on: thread)
  }

  /// Submits a C function to `queue` when the group becomes empty, or at once if it is empty.
  package func notify(
    queue: DispatchQueue, _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?
  ) {
    let thread = currentThread()
    register(Notification(function, context, queue: queue, on: thread), on: thread)
  }
}
