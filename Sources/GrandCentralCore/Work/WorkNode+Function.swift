// Room: Work/WorkNode+Function. Nodes that carry a C function and its context, in the place of a closure: nothing is
// allocated, retained or released for them.

extension WorkNode {
  /// A node that calls `function` once, submitted by `thread`, with the QoS of an item that says nothing of it.
  @inline(__always)
  static func function(
    _ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?,
    on thread: ThreadContext
  ) -> WorkNode {
    let node = NodeCache.take(thread)
    node.putFunction(function, context)
    node.entry = functionEntry
    node.traits = WorkTraits(
      qos: QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)))
    return node
  }

  @inline(__always)
  func putFunction(_ function: @escaping WorkFunction, _ context: UnsafeMutableRawPointer?) {
    store(function, 16)
    store(context, 24)
  }

  /// A function and nothing else.
  static let functionEntry: Entry = { raw, thread in
    grandCentralFunctionCallout(of: WorkNode(raw), on: thread)
  }
}
