// Room: Work/WorkNode+Function. Nodes that carry a C function and its context in place of a
// closure. They allocate, retain and release nothing.

extension WorkNode {
  /// Makes a node that calls `function` once. Its QoS is inferred from `thread`, the submitter.
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

  /// The entry of a node that carries only a function.
  static let functionEntry: Entry = { raw, thread in
    grandCentralFunctionCallout(of: WorkNode(raw), on: thread)
  }
}
