// Room: Coordination/DispatchGroup+Deliver. Work that is submitted when a group becomes empty.
// A lock guards the list; only registering and delivering take it. The thread that takes it first
// submits what is due. So notifications reach their queues in the order of registration, even
// before the thread that claimed their generation delivers. Submitting under the lock is safe: it
// pushes and runs nothing.
// What was registered before is on its queue when a wait returns. The flag `hasRegistered` is set
// before a notification is registered, and cleared after the submissions. A thread whose wait ends
// and that finds the flag set takes the lock, and submits what no other thread has submitted under
// it. If the thread finds the flag clear, it has seen the submissions.

extension DispatchGroup {
  /// Makes the types known that a notification takes: see Primitives/AmpleStack.
  static func meetTypes() {
    var notifications: [Notification] = []
    notifications.reserveCapacity(1)
  }

  func register(_ notification: Notification, on thread: ThreadContext) {
    // Before the lock, and before the notification is counted.
    BlackBox.open()
    let due = lock.withLock { () -> Due? in
      // relaxed: the program orders the registration before the wait, or before a leave of the same
      // generation, which the wait acquires. Otherwise it cannot know which of the two comes first.
      if registered.isEmpty { hasRegistered.store(true, ordering: .relaxed) }
      if let watched = watch(GroupState.notifications) {
        var longer = registered
        registered = []
        if longer.isEmpty { _ = Unmanaged.passRetained(self) }
        longer.append(notification.due(at: watched.generation))
        registered = longer
        BlackBox.noteNotifications(1, from: thread)
        return nil
      }
      // No generation is under way, so all that is registered is due.
      let due = submitDue(from: thread)
      notification.submit(from: thread)
      // releasing: publishes the submissions to wait().
      hasRegistered.store(false, ordering: .releasing)
      return due
    }
    guard let due else { return }
    end(due)
    notification.releaseLane()
  }

  /// Submits the notifications of generations that have ended. The caller passes the result to
  /// end(), after it has woken the group's waiters: the last release of a queue may run code of the
  /// program.
  func deliver() -> Due {
    let thread = currentThread()
    return lock.withLock { submitDue(from: thread) }
  }

  /// Notifications that are submitted: the first `count` of a list. If that is all of it, the group
  /// does not retain itself any more, and end() releases it.
  struct Due {
    let list: [Notification]
    let count: Int
  }

  /// Submits what is due; call with the lock held. The caller passes the result to end().
  private func submitDue(from thread: ThreadContext) -> Due {
    // acquiring: pairs with the leaves before the end of each generation, the caller's and later
    // generations. So the submitted work sees what those leaves released.
    let current = GroupState(rawValue: word.load(ordering: .acquiring)).generation
    let waiting = registered
    let count = waiting.firstIndex { $0.generation == current } ?? waiting.count
    if count == 0 { return Due(list: [], count: 0) }
    for index in 0..<count { waiting[index].submit(from: thread) }
    BlackBox.noteNotifications(-count, from: thread)
    registered = count == waiting.count ? [] : Array(waiting[count...])
    // releasing: publishes the submissions to wait().
    if count == waiting.count { hasRegistered.store(false, ordering: .releasing) }
    return Due(list: waiting, count: count)
  }

  /// Releases what the submitted notifications retained; call without the lock.
  func end(_ due: Due) {
    if due.count == 0 { return }
    for index in 0..<due.count { due.list[index].releaseLane() }
    if due.count == due.list.count { Unmanaged.passUnretained(self).release() }
  }
}
