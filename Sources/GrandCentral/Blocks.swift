// Purpose: what a protocol of the program requires of queues, groups, work items and sources, if it
// was written for Dispatch: functions that take blocks.
// A program that mocks its queues lists Dispatch's functions in a protocol, and declares the
// conformance of DispatchQueue with an empty extension. Dispatch's closures are blocks, which are
// another type than closures, and a function with closures does not satisfy such a requirement.
//
// No call of a program selects these functions: they are disfavoured, without default arguments.
// They are in this module and not in the engine's, so that the engine's objects refer to no library
// of blocks. Programs link that library anyway, since the Concurrency runtime's Dispatch has it.
public import GrandCentralCore

extension DispatchQueue {
  /// Submits a block, as `async` does with a closure; for protocols that require it.
  ///
  /// - Parameters:
  ///   - group: a group that is entered now and left when the work has run.
  ///   - qos: the QoS of the work.
  ///   - flags: the attributes of the work.
  ///   - work: the block to submit; runs once.
  /// - Source: `dispatch_async(3)`, `dispatch_group_async(3)`.
  @preconcurrency @_disfavoredOverload
  public func async(
    group: DispatchGroup?, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {
    async(group: group, qos: qos, flags: flags) { work() }
  }

  /// Submits a block when `deadline` has come, as `asyncAfter` does with a closure; for protocols
  /// that require it.
  ///
  /// - Parameters:
  ///   - deadline: when to submit the work, on the clock that stops while the machine sleeps.
  ///   - qos: the QoS of the work.
  ///   - flags: the attributes of the work.
  ///   - work: the block to submit; runs once.
  /// - Source: `dispatch_after(3)`.
  @preconcurrency @_disfavoredOverload
  public func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {
    asyncAfter(deadline: deadline, qos: qos, flags: flags) { work() }
  }

  /// Submits a block when `wallDeadline` has come, as `asyncAfter` does with a closure; for
  /// protocols that require it.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to submit the work, on the wall clock.
  ///   - qos: the QoS of the work.
  ///   - flags: the attributes of the work.
  ///   - work: the block to submit; runs once.
  /// - Source: `dispatch_after(3)`.
  @preconcurrency @_disfavoredOverload
  public func asyncAfter(
    wallDeadline: DispatchWallTime, qos: DispatchQoS, flags: DispatchWorkItemFlags,
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {
    asyncAfter(wallDeadline: wallDeadline, qos: qos, flags: flags) { work() }
  }
}

extension DispatchGroup {
  /// Submits a block when the group becomes empty, as `notify` does with a closure; for protocols
  /// that require it.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work.
  ///   - flags: the attributes of the work.
  ///   - queue: the queue that runs the work.
  ///   - work: the block to submit; runs once.
  /// - Source: `dispatch_group_notify(3)`.
  @_disfavoredOverload
  public func notify(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, queue: DispatchQueue,
    execute work: @escaping @convention(block) () -> Void
  ) {
    notify(qos: qos, flags: flags, queue: queue) { work() }
  }
}

extension DispatchWorkItem {
  /// Submits a block when the item's first execution ends, as `notify` does with a closure; for
  /// protocols that require it.
  ///
  /// - Parameters:
  ///   - qos: the QoS of the work.
  ///   - flags: the attributes of the work.
  ///   - queue: the queue that runs the work.
  ///   - execute: the block to submit; runs once.
  /// - Source: `dispatch_block_notify(3)`.
  @_disfavoredOverload
  public func notify(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, queue: DispatchQueue,
    execute: @escaping @convention(block) () -> Void
  ) {
    notify(qos: qos, flags: flags, queue: queue) { execute() }
  }
}

extension DispatchSourceProtocol {
  /// Sets the event handler to a block; for protocols that require it.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS.
  ///   - flags: options of the handler.
  ///   - handler: runs from the next event on, never twice at once; `nil` removes the handler.
  /// - Source: `dispatch_source_set_event_handler(3)`.
  @_disfavoredOverload
  public func setEventHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?
  ) {
    setEventHandler(qos: qos, flags: flags, handler: closure(handler))
  }

  /// Sets the cancel handler to a block; for protocols that require it.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS.
  ///   - flags: options of the handler.
  ///   - handler: runs once; `nil` removes the handler. Ignored once the source has ended.
  /// - Source: `dispatch_source_set_cancel_handler(3)`.
  @_disfavoredOverload
  public func setCancelHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?
  ) {
    setCancelHandler(qos: qos, flags: flags, handler: closure(handler))
  }

  /// Sets the registration handler to a block; for protocols that require it.
  ///
  /// - Parameters:
  ///   - qos: the handler's QoS.
  ///   - flags: options of the handler.
  ///   - handler: runs once, soon if the source already monitors; `nil` removes the handler.
  /// - Source: `dispatch_source_set_registration_handler(3)`.
  @_disfavoredOverload
  public func setRegistrationHandler(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?
  ) {
    setRegistrationHandler(qos: qos, flags: flags, handler: closure(handler))
  }
}

private func closure(_ block: (@convention(block) () -> Void)?) -> DispatchSourceHandler? {
  guard let block else { return nil }
  return { block() }
}
