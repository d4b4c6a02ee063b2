// Room: Coordination/DispatchGroup+Deliver. Work that is submitted when a group becomes empty.
// A lock guards the list; only registering and delivering take it. The thread that takes it first
// submits what is due. So notifications reach their queues in the order of registration, even
// before the thread that claimed their generation delivers. Submitting under the lock is safe: it
// pushes and runs nothing.

extension DispatchGroup {
  /// Makes the types known that a notification takes: see Primitives/AmpleStack.
  static func meetTypes() {
    var notifications: [Notification] = []
    notifications.reserveCapacity(1)
  }

  func register(_ notification: Notification, on thread: ThreadContext) {
    // Before the lock, and before the notification is counted.
    BlackBox.open()
    let isEmptied = lock.withLock { () -> Bool in
      if let watched = watch(GroupState.notifications) {
        var longer = registered
        registered = []
        if longer.isEmpty { _ = Unmanaged.passRetained(self) }
        longer.append(notification.due(at: watched.generation))
        registered = longer
        BlackBox.noteNotifications(1, from: thread)
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
    BlackBox.noteNotifications(-count, from: thread)
    registered = count == waiting.count ? [] : Array(waiting[count...])
    return count == waiting.count
  }
}
