// Room: Coordination/DispatchQueue+Function. The ways onto a queue that return at once, for C functions.

extension DispatchQueue {
  /// Calls `function` on this queue, as `async` does a closure.
  package final func asyncCall(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?,
    isBarrier: Bool = false
  ) {
    let thread = currentThread()
    let node = WorkNode.function(function, context, on: thread)
    if isBarrier { node.traits.formUnion(.barrier) }
    submit(node, from: thread)
  }

  /// Calls `function` on this queue, as `async` does a closure with a QoS of its own and flags.
  package final func asyncCall(
    qos: DispatchQoS, flags: DispatchWorkItemFlags, _ function: @escaping WorkFunction,
    _ context: UnsafeMutableRawPointer?
  ) {
    let thread = currentThread()
    let node = WorkNode.function(function, context, on: thread)
    let captured = QoSPropagation.captured(
      from: PackedQoS(rawValue: thread.pointee.qos), explicit: PackedQoS(qos), flags: flags)
    node.traits = WorkTraits(qos: captured, barrier: flags.contains(.barrier))
    submit(node, from: thread)
  }

  /// Calls `function` on this queue as part of `group`.
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
  /// Performs `item` as a barrier, whatever its own flags say.
  package final func async(execute item: DispatchWorkItem, isBarrier: Bool) {
    let thread = currentThread()
    let node = WorkNode.item(item, queue: self, on: thread)
    if isBarrier { node.traits.formUnion(.barrier) }
    submit(node, from: thread)
  }
}

extension DispatchObject {
  /// The queue on which the finalizer of an object runs that has no queue of its own.
  package final func setFinalizerQueue(_ queue: DispatchQueue?) {
    attachTarget(queue ?? Runtime.shared.root(.default))
  }
}
