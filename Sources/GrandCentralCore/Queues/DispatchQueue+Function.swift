// Room: Queues/DispatchQueue+Function. Submission of C functions that returns at once.

extension DispatchQueue {
  /// Submits a call of `function`, as `async` submits a closure.
  package final func asyncCall(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?,
    isBarrier: Bool = false
  ) {
    let thread = currentThread()
    let node = WorkNode.function(function, context, on: thread)
    if isBarrier { node.traits.formUnion(.barrier) }
    submitInline(node, from: thread)
  }

  /// Submits a call of `function`, as `async` submits a closure with its own QoS and flags.
  package final func asyncCall(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, _ function: @escaping WorkFunction,
    _ context: UnsafeMutableRawPointer?
  ) {
    let thread = currentThread()
    submit(.function(function, context, qos: qos, flags: flags, on: thread), from: thread)
  }

  /// Submits a call of `function` as a member of `group`.
  package final func asyncCall(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?,
    group: DispatchGroup
  ) {
    let thread = currentThread()
    let node = WorkNode.function(function, context, on: thread)
    node.joinWithFunction(group)
    submit(node, from: thread)
  }
}

extension DispatchQueue {
  /// Submits `item`; `isBarrier` makes it a barrier, whatever its own flags say.
  package final func async(execute item: DispatchWorkItem, isBarrier: Bool) {
    let thread = currentThread()
    let node = WorkNode.item(item, queue: self, on: thread)
    if isBarrier { node.traits.formUnion(.barrier) }
    submit(node, from: thread)
  }
}

extension WorkNode {
  /// Makes a node that calls `function` once, with a QoS and flags of its own.
  static func function(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?, qos: DispatchQoS,
    flags: DispatchWorkItemFlags = [], on thread: ThreadContext
  ) -> WorkNode {
    let node = WorkNode.function(function, context, on: thread)
    let captured = QoSPropagation.captured(
      from: PackedQoS(rawValue: thread.pointee.qos), explicit: PackedQoS(qos), flags: flags)
    node.traits = WorkTraits(qos: captured, barrier: flags.contains(.barrier))
    return node
  }
}
