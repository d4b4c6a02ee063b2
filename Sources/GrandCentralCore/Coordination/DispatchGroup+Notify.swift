// Room: Coordination/DispatchGroup+Notify. Work that is submitted when a group becomes empty.
// A lock guards the list; only registering and delivering take it. The thread that takes it first
// submits what is due. So notifications reach their queues in the order of registration, even
// before the thread that claimed their generation delivers. Submitting under the lock is safe: it
// pushes and runs nothing.

extension DispatchGroup {
  /// Submits `work` to `queue` when the group becomes empty, or at once if it is empty.
  ///
  /// Call from any thread. Notifications are submitted in the order of the calls. They keep the
  /// group alive until then.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work; by default the caller's. A relative priority outside 0 … -15
  ///     stops the process.
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

  private func register(_ notification: Notification, on thread: ThreadContext) {
    let isEmptied = lock.withLock { () -> Bool in
      if let watched = watch(GroupState.notifications) {
        var longer = registered
        registered = []
        if longer.isEmpty { _ = Unmanaged.passRetained(self) }
        longer.append(notification.due(at: watched.generation))
        registered = longer
        return false
      }
      let isEmptied = submitDue(from: thread)
      notification.submit(from: thread)
      return isEmptied
    }
    if isEmptied { Unmanaged.passUnretained(self).release() }
  }

  /// Submits the notifications of generations that have ended.
  func deliver() {
    let thread = currentThread()
    if lock.withLock({ submitDue(from: thread) }) { Unmanaged.passUnretained(self).release() }
  }

  /// Submits what is due; call with the lock held. Returns whether the list became empty: then the
  /// group no longer retains itself, and the caller releases it.
  private func submitDue(from thread: ThreadContext) -> Bool {
    // acquiring: pairs with the leaves before the end of each generation, the caller's and later
    // generations. So the submitted work sees what those leaves released.
    let current = GroupState(rawValue: word.load(ordering: .acquiring)).generation
    let waiting = registered
    let count = waiting.firstIndex { $0.generation == current } ?? waiting.count
    if count == 0 { return false }
    for index in 0..<count { waiting[index].submit(from: thread) }
    registered = count == waiting.count ? [] : Array(waiting[count...])
    return count == waiting.count
  }
}
