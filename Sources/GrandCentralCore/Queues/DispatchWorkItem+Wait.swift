// Room: Queues/DispatchWorkItem+Wait. Waiting for a work item, and notifications of its end.

extension DispatchWorkItem {
  /// Waits until the item's first execution ends.
  ///
  /// Blocks the calling thread; the pool replaces a blocked worker. Notifications that were
  /// registered before are on their queues when the wait ends. Either wait for an item once and
  /// execute it once, or execute it any number of times; anything else stops the process. So does a
  /// wait that cannot end: a call from the item itself; a call from an item that holds the item's
  /// queue, or one of its targets, alone; a call from an item of a concurrent queue on which the
  /// awaited item is a barrier.
  ///
  /// - Source: `dispatch_block_wait(3)`.
  public func wait() { _ = wait(limit: .forever) }

  /// Waits until the item's first execution ends, or until a deadline.
  ///
  /// Blocks as `wait()` does, and stops the process likewise. With a deadline, a wait that cannot
  /// end times out.
  ///
  /// - Parameter timeout: the deadline. A deadline in the past polls once without blocking.
  /// - Returns: `.timedOut` if the deadline came first; then the item may be waited for again.
  /// - Source: `dispatch_block_wait(3)`.
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { wait(limit: timeout.limit) }

  /// Waits until the item's first execution ends, or until a date.
  ///
  /// Blocks as `wait()` does, and stops the process likewise. With a deadline, a wait that cannot
  /// end times out.
  ///
  /// - Parameter wallTimeout: the deadline, which follows changes of the wall clock.
  /// - Returns: `.timedOut` if the deadline came first; then the item may be waited for again.
  /// - Source: `dispatch_block_wait(3)`.
  public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult {
    wait(limit: wallTimeout.limit)
  }

  /// Waits as `wait(timeout:)` does; the deadline is a C time value of any clock.
  package func wait(word: dispatch_time_t) -> DispatchTimeoutResult {
    wait(limit: TimeLimit(word: word))
  }

  func wait(limit: TimeLimit) -> DispatchTimeoutResult {
    let result = waitForEnd(until: limit)
    // finish() may not have delivered yet. If this thread takes the lock first, it delivers; else
    // the notifications are on their queues.
    // relaxed: the load that found the item done has seen the bit, which does not change any more.
    if result == .success && state.load(ordering: .relaxed).isNotified {
      Self.release(deliverNotifications(on: currentThread()))
    }
    return result
  }

  private func waitForEnd(until limit: TimeLimit) -> DispatchTimeoutResult {
    if beginWait().isDone { return .success }
    if limit.hasPassed { return endTimedOut() }
    let thread = currentThread()
    // acquiring: pairs with the releasing exchange in finish().
    if ThreadSpin.look(thread, atMost: Spin.limit, { state.load(ordering: .acquiring).isDone }) {
      return .success
    }
    // Retained for the length of the sleep, so that a thread that follows this wait may use it.
    let queue = takeSubmission()?.takeRetainedValue()
    if limit == .forever { refuseDeadlock(on: thread, queue) }
    let result = sleepRaising(thread, queue, until: limit)
    if result == .timedOut, let queue { restoreSubmission(to: queue) }
    return result
  }

  /// Sleeps until the item is done. Meanwhile the thread that performs the item, or the work ahead
  /// of it on `queue`, runs at the class of `thread` at least.
  private func sleepRaising(
    _ thread: ThreadContext, _ queue: DispatchQueue?, until limit: TimeLimit
  ) -> DispatchTimeoutResult {
    let wait = ItemWait(item: self, queue: queue)
    let band = EffectivePriority.ofWaiter(thread)
    wait.waiterPriorityDidRise(to: band, from: thread)
    let result = EffectivePriority.waiting(thread, for: wait, at: band) {
      Blocking.announced(thread, boardWait(behind: queue)) { sleep(until: limit) }
    }
    awaited.store(0, ordering: .sequentiallyConsistent)
    // The queue's drainer recomputes what its nodes ask before the next item.
    if result == .timedOut { queue?.noteAskedChange() }
    return result
  }

  /// The wait as the board shows it.
  private func boardWait(behind queue: DispatchQueue?) -> BoardWait {
    BlackBox.open()
    return BoardWait(
      .workItem, Unmanaged.passUnretained(self).toOpaque(), queue: queue?.placeOnBoard() ?? 0,
      holder: ThreadContext(bitPattern: runner.load(ordering: .relaxed)))
  }

  /// Claims the item's only wait and returns the word as it was before.
  private func beginWait() -> WorkItemState {
    // acquiring: pairs with the releasing exchange in finish().
    state.change(.acquiring) { seen in
      do throws(WorkItemState.WaitRefusal) { return (try seen.waiting(), seen) } catch {
        fail(error)
      }
    }
  }

  private func fail(_ refusal: WorkItemState.WaitRefusal) -> Never {
    switch refusal {
    case .waitedBefore:
      clientFault(
        """
        wait() on a DispatchWorkItem that is or was waited for already. An item may be waited for \
        once; use a DispatchGroup, or notify(queue:execute:), for more.
        """)
    case .executedTwice:
      clientFault(
        """
        wait() on a DispatchWorkItem that was executed more than once. Wait for an item that is \
        executed once, or use a DispatchGroup.
        """)
    }
  }

  private func refuseDeadlock(on thread: ThreadContext, _ queue: DispatchQueue?) {
    require(
      runner.load(ordering: .relaxed) != UInt(bitPattern: thread),
      """
      Deadlock: a DispatchWorkItem waits for itself: wait() was called from inside its own block. \
      Wait elsewhere, or use notify(queue:execute:).
      """)
    // An item that another thread performs itself ends there.
    guard let queue, runner.load(ordering: .relaxed) == 0 else { return }
    // A thread that holds the queue, or one of its targets, alone keeps the item from starting for
    // as long as it waits. So does one that shares a queue on which the item is a barrier.
    let isBarrier = flags.contains(.barrier)
    guard
      let closed = queue.isClosed(by: thread, exclusive: isBarrier)
        ? queue : queue.firstClosed(by: thread), closed === queue || !queue.mayLeave(closed)
    else { return }
    let place = closed === queue ? "this queue" : "its target '\(closed.laneLabel)'"
    let holding = closed.isClosed(by: thread) ? "has \(place) to itself" : "is in \(place)"
    clientFault(
      """
      Deadlock: wait() on a DispatchWorkItem that was submitted to queue '\(queue.label)', from an \
      item that \(holding). Wait elsewhere, or use notify(queue:execute:).
      """)
  }

  private func sleep(until limit: TimeLimit) -> DispatchTimeoutResult {
    // relaxed: the futex call compares the word again.
    while let asleep = state.transition(.relaxed, { $0.fellAsleep().map { ($0, $0) } }) {
      if futexWait(state, while: asleep.rawValue, until: limit.deadline) == .timedOut {
        return endTimedOut()
      }
    }
    return acquireResult()
  }

  /// Withdraws the wait. Returns `.success` if the item is done.
  private func endTimedOut() -> DispatchTimeoutResult {
    // relaxed: the withdrawal publishes nothing.
    state.transition(.relaxed, to: { $0.gaveUp() }) ? .timedOut : acquireResult()
  }

  /// Call when a transition was refused because the item is done.
  private func acquireResult() -> DispatchTimeoutResult {
    // acquiring: pairs with the releasing exchange in finish().
    let seen = state.load(ordering: .acquiring)
    invariant(seen.isDone, "A DispatchWorkItem that was done is not.")
    return .success
  }
}

/// One wait for an item: raises the item's runner, or its queue, when the waiting thread is raised.
private final class ItemWait: PriorityInheriting {
  private let item: DispatchWorkItem
  private let queue: DispatchQueue?

  init(item: DispatchWorkItem, queue: DispatchQueue?) {
    self.item = item
    self.queue = queue
  }

  func waiterPriorityDidRise(to band: Band, from thread: ThreadContext) {
    guard Overrides.areResolved else { return }
    item.awaited.store(UInt32(band.rawValue), ordering: .sequentiallyConsistent)
    let runner = item.runner.load(ordering: .sequentiallyConsistent)
    if let holder = ThreadContext(bitPattern: runner) {
      if holder == thread { return }
      EffectivePriority.raise(holder, to: band, from: thread) {
        item.runner.load(ordering: .sequentiallyConsistent) == runner
          && item.awaited.load(ordering: .sequentiallyConsistent) >= band.rawValue
      }
    } else if queue?.kind == .serial {
      queue?.waiterPriorityDidRise(to: band, from: thread)
    }
  }
}

extension DispatchWorkItem {
  /// Submits `execute` to `queue` when the item's first execution ends, or at once if it has ended.
  ///
  /// Call from any thread. Notifications are submitted in the order of the calls. An item that is
  /// destroyed without having been executed discards its notifications.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work; by default the caller's, but at most user-initiated. A relative
  ///     priority outside 0 … -15 stops the process.
  ///   - flags: the attributes of the work.
  ///   - queue: the queue that runs the work.
  ///   - execute: the closure to submit; runs once.
  /// - Source: `dispatch_block_notify(3)`.
  public func notify(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
    execute: @escaping () -> Void
  ) {
    let thread = currentThread()
    register(Notification(execute, qos: qos, flags: flags, queue: queue, on: thread), on: thread)
  }

  /// Submits a work item to `queue` when this item's first execution ends.
  ///
  /// Call from any thread. If the execution has ended, submits at once. The order is that of
  /// `notify(qos:flags:queue:execute:)`.
  ///
  /// - Parameters:
  ///   - queue: the queue that runs the item.
  ///   - execute: the item to submit; it runs with its own QoS and flags.
  /// - Source: `dispatch_block_notify(3)`.
  public func notify(queue: DispatchQueue, execute: DispatchWorkItem) {
    let thread = currentThread()
    register(Notification(execute, queue: queue, on: thread), on: thread)
  }

  private func register(_ notification: Notification, on thread: ThreadContext) {
    let submitted = lock.withLock { () -> [Notification]? in
      // relaxed: the lock hands over the list.
      if state.transition(.relaxed, to: { $0.observed() }) {
        notifications.append(notification)
        return nil
      }
      // What the item wrote is visible to the work submitted here.
      _ = acquireResult()
      // Done: the registered notifications go first, even if finish() has not reached them yet.
      let submitted = submitNotifications(from: thread)
      notification.submit(from: thread)
      return submitted
    }
    guard let submitted else { return }
    Self.release(submitted)
    notification.releaseLane()
  }

  /// Submits the notifications that no other thread has submitted. Call when the item is done. The
  /// caller passes the result to release(), after it has woken the item's waiter: the last release
  /// of a queue may run code of the program.
  func deliverNotifications(on thread: ThreadContext) -> [Notification] {
    lock.withLock { submitNotifications(from: thread) }
  }

  static func release(_ submitted: [Notification]) {
    for notification in submitted { notification.releaseLane() }
  }

  /// Call with the lock held. The caller releases the lanes of the result without it.
  private func submitNotifications(from thread: ThreadContext) -> [Notification] {
    let submitted = notifications
    notifications = []
    for notification in submitted { notification.submit(from: thread) }
    return submitted
  }

  /// Discards the notifications that were never submitted. Called by the item's deinit.
  func discardNotifications() {
    // relaxed: all uses happen before the last release. Most items were never observed.
    if !state.load(ordering: .relaxed).isNotified { return }
    let thread = currentThread()
    for notification in $notifications { notification.discard(on: thread) }
  }
}
