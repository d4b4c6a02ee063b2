// Room: Coordination/DispatchGroup+Notify. Work that is submitted when a group becomes empty.
// The list has a lock; it is taken only to register and to deliver. Whoever holds it first submits
// what is due, so notifications reach their queues in the order of their registration even if the
// claimer of their generation has not come to it yet. Submitting under the lock is safe: it pushes,
// it runs nothing.

extension DispatchGroup {
  /// Submits `work` to `queue` when the group becomes empty; at once if it is empty now.
  ///
  /// Call from any thread. Several notifications are submitted in the order of the calls. They keep
  /// the group alive until then.
  ///
  /// - Parameters:
  ///   - qos: the work's QoS; by default that of the caller.
  ///   - flags: what is special about the work.
  ///   - queue: where the work runs.
  ///   - work: runs once.
  /// - Source: `dispatch_group_notify(3)`.
  public func notify(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
    execute work: @escaping () -> Void
  ) {
    let thread = currentThread()
    register(Notification(work, qos: qos, flags: flags, queue: queue, on: thread), on: thread)
  }

  /// Submits `work` to `queue` when the group becomes empty; at once if it is empty now.
  ///
  /// - Source: `dispatch_group_notify(3)`.
  public func notify(queue: DispatchQueue, work: DispatchWorkItem) {
    let thread = currentThread()
    register(Notification(work, queue: queue, on: thread), on: thread)
  }

  /// Calls `function` on `queue` when the group becomes empty; submits it at once if it is empty now.
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

  /// Submits what waited for a generation that has ended.
  func deliver() {
    let thread = currentThread()
    if lock.withLock({ submitDue(from: thread) }) { Unmanaged.passUnretained(self).release() }
  }

  /// With the lock held. Returns whether the list has become empty: the group no longer holds
  /// itself.
  private func submitDue(from thread: ThreadContext) -> Bool {
    // acquiring: pairs with the leaves before each generation's end, the caller's own and later ones, for
    // the notified work.
    let current = GroupState(rawValue: word.load(ordering: .acquiring)).generation
    let waiting = registered
    let count = waiting.firstIndex { $0.generation == current } ?? waiting.count
    if count == 0 { return false }
    for index in 0..<count { waiting[index].submit(from: thread) }
    registered = count == waiting.count ? [] : Array(waiting[count...])
    return count == waiting.count
  }
}
