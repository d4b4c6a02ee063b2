// Room: Events/DispatchQueue+After. Work that is submitted later.

extension DispatchQueue {
  /// Submits `work` when `deadline` has come; at once if it has passed; never for `.distantFuture`.
  ///
  /// Call from any thread. The work never starts before the deadline. It is submitted at the
  /// deadline if nothing else is due soon after. Otherwise it may wait for that, so that one
  /// wake-up serves several deadlines: up to a tenth of the delay, but no more than ten
  /// milliseconds; use a timer source for another leeway, or none. Work of the class background may
  /// wait up to a second, utility up to a tenth of one, likewise by a tenth and a twentieth of the
  /// delay.
  ///
  /// - Parameters:
  ///   - deadline: when to submit the work, on the clock that stands still while the machine sleeps.
  ///   - qos: the work's QoS; by default that of the caller.
  ///   - flags: what is special about the work.
  ///   - work: runs once.
  /// - Source: `dispatch_after(3)`.
  @preconcurrency
  public func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable () -> Void
  ) {
    submit(at: deadline.limit) { .closure(work, qos: qos, flags: flags, on: $0) }
  }

  /// Submits `work` when `wallDeadline` has come by the wall clock, which follows when that is set.
  ///
  /// - Source: `dispatch_after(3)`.
  @preconcurrency
  public func asyncAfter(
    wallDeadline: DispatchWallTime, qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [], execute work: @escaping @Sendable () -> Void
  ) {
    submit(at: wallDeadline.limit) { .closure(work, qos: qos, flags: flags, on: $0) }
  }

  /// Submits the item when `deadline` has come. A cancelled item runs empty.
  ///
  /// - Source: `dispatch_after(3)`.
  public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) {
    submit(at: deadline.limit) { .item(execute, queue: self, on: $0) }
  }

  /// Submits the item when `wallDeadline` has come by the wall clock. A cancelled item runs empty.
  ///
  /// - Source: `dispatch_after(3)`.
  public func asyncAfter(wallDeadline: DispatchWallTime, execute: DispatchWorkItem) {
    submit(at: wallDeadline.limit) { .item(execute, queue: self, on: $0) }
  }

  /// Calls a C function when the time that C's word says has come.
  package func asyncAfterCall(
    word: dispatch_time_t, _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?
  ) {
    submit(at: TimeLimit(word: word)) { .function(function, context, on: $0) }
  }

  /// Performs `item` when the time that C's word says has come.
  package func asyncAfter(word: dispatch_time_t, execute item: DispatchWorkItem) {
    submit(at: TimeLimit(word: word)) { .item(item, queue: self, on: $0) }
  }

  private func submit(at limit: TimeLimit, _ makeNode: (ThreadContext) -> WorkNode) {
    let thread = currentThread()
    let (timers, target): (Timers, UInt64)
    switch limit {
    case .forever: return
    case .now: return submit(makeNode(thread), from: thread)
    case .at(.monotonic(let nanoseconds)):
      (timers, target) = (Events.shared.monotonic, nanoseconds)
    case .at(.wall(let nanoseconds)):
      (timers, target) = (Events.shared.wall, nanoseconds)
    }
    let now = timers.clock.nanoseconds
    guard target > now else { return submit(makeNode(thread), from: thread) }
    // Not the minute that Apple's allows: with many deadlines in a window all of them wait for its
    // end.
    let node = makeNode(thread)
    let band = QoSPropagation.effective(item: node.traits.qos, queue: ownQoS).band
    let leeway = max(
      min((target - now) / 10, 10_000_000),
      ClassEffects.of(band).leeway.nanoseconds(after: target - now))
    timers.submit(node, to: self, at: target, leeway: leeway)
  }
}
