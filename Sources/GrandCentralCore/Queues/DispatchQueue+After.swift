// Room: Queues/DispatchQueue+After. Submits work at a later time.

extension DispatchQueue {
  /// Submits `work` when `deadline` has come.
  ///
  /// Call from any thread. The work never starts before the deadline. It is submitted at the
  /// deadline if nothing else is due soon after. Otherwise it may wait for that, so that one
  /// wake-up serves several deadlines: up to a hundredth of the delay, at most 1 ms. Lower classes
  /// may wait longer: background up to a tenth of the delay, at most 1 s; utility up to a tenth, at
  /// most 10 ms, or up to a twentieth, at most 100 ms, whichever is longer. Use a timer source for
  /// another leeway, or for none. Calls that come before their deadlines submit in the order of the
  /// deadlines, if these differ and are of one clock.
  ///
  /// - Parameters:
  ///   - deadline: when to submit the work, on the clock that stops while the machine sleeps. A
  ///     time in the past submits at once; `.distantFuture` never does.
  ///   - qos: the QoS of the work; by default the caller's, but at most user-initiated. It counts
  ///     where the queue has no QoS of its own. A relative priority outside 0 … -15 stops the
  ///     process.
  ///   - flags: the attributes of the work.
  ///   - work: the closure to run, once.
  /// - Source: `dispatch_after(3)`.
  @preconcurrency
  public func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable () -> Void
  ) {
    submit(at: deadline.limit) { .closure(work, qos: qos, flags: flags, on: $0) }
  }

  /// Submits `work` when `wallDeadline` has come by the wall clock.
  ///
  /// When the wall clock is set, the deadline follows it. Call from any thread. The work may wait
  /// as long after the deadline as in `asyncAfter(deadline:qos:flags:execute:)`.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to submit the work, on the wall clock. A time in the past submits at
  ///     once; `.distantFuture` never does.
  ///   - qos: the QoS of the work; by default the caller's, but at most user-initiated. It counts
  ///     where the queue has no QoS of its own. A relative priority outside 0 … -15 stops the
  ///     process.
  ///   - flags: the attributes of the work.
  ///   - work: the closure to run, once.
  /// - Source: `dispatch_after(3)`.
  @preconcurrency
  public func asyncAfter(
    wallDeadline: DispatchWallTime, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: @escaping @Sendable () -> Void
  ) {
    submit(at: wallDeadline.limit) { .closure(work, qos: qos, flags: flags, on: $0) }
  }

  /// Submits a work item when `deadline` has come.
  ///
  /// Call from any thread. An item that is cancelled before it starts does not run its closure. The
  /// item may wait as long after the deadline as in `asyncAfter(deadline:qos:flags:execute:)`.
  ///
  /// - Parameters:
  ///   - deadline: when to submit the item, on the clock that stops while the machine sleeps. A
  ///     time in the past submits at once; `.distantFuture` never does.
  ///   - execute: the item to perform.
  /// - Source: `dispatch_after(3)`.
  public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) {
    submit(at: deadline.limit) { .item(execute, queue: self, on: $0) }
  }

  /// Submits a work item when `wallDeadline` has come by the wall clock.
  ///
  /// Call from any thread. An item that is cancelled before it starts does not run its closure. The
  /// item may wait as long after the deadline as in `asyncAfter(deadline:qos:flags:execute:)`.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to submit the item, on the wall clock. A time in the past submits at
  ///     once; `.distantFuture` never does.
  ///   - execute: the item to perform.
  /// - Source: `dispatch_after(3)`.
  public func asyncAfter(wallDeadline: DispatchWallTime, execute: DispatchWorkItem) {
    submit(at: wallDeadline.limit) { .item(execute, queue: self, on: $0) }
  }

  /// Calls a C function at the time that C's encoding gives.
  package func asyncAfterCall(
    word: dispatch_time_t, qos: DispatchQoS = .unspecified, _ function: @escaping WorkFunction,
    _ context: UnsafeMutableRawPointer?
  ) {
    submit(at: TimeLimit(word: word)) { .function(function, context, qos: qos, on: $0) }
  }

  /// Performs `item` at the time that C's encoding gives.
  package func asyncAfter(word: dispatch_time_t, execute item: DispatchWorkItem) {
    submit(at: TimeLimit(word: word)) { .item(item, queue: self, on: $0) }
  }

  /// Submits the node that `makeNode` makes when its time has come. `leeway`: how many nanoseconds
  /// it may wait for other timers; `nil`: what `asyncAfter` promises.
  func submit(
    at limit: TimeLimit, leeway: UInt64? = nil, _ makeNode: (ThreadContext) -> WorkNode
  ) {
    let thread = currentThread()
    let (timers, target): (Timers, UInt64)
    switch limit {
    case .forever: return
    case .now: return submit(makeNode(thread), from: thread)
    case .at(.monotonic(let nanoseconds)):
      (timers, target) = (Reactor.shared.monotonic, nanoseconds)
    case .at(.wall(let nanoseconds)):
      (timers, target) = (Reactor.shared.wall, nanoseconds)
    }
    let now = timers.clock.nanoseconds
    guard target > now else { return submit(makeNode(thread), from: thread) }
    let node = makeNode(thread)
    let band = QoSPropagation.effective(item: node.traits.qos, queue: ownQoS).band
    let usual = TimerLeeway.nanosecondsForWork(in: band, after: target - now)
    timers.submit(node, to: self, at: target, leeway: leeway ?? usual)
  }
}
