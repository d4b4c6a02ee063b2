// Room: Work/Callout. The functions that call all client closures of async(), so that a backtrace
// shows where the engine ends and the client begins.
import CGrandCentralLinux

/// Empties a node that carries a closure, returns it to the cache, and calls the closure. The
/// closure is moved out and dies here: otherwise the compiler retains it around the call.
@inline(never)
func grandCentralClientCallout(of node: WorkNode, on thread: ThreadContext) {
  let work = node.takeClosure()
  NodeCache.put(node, thread)
  work()
}

/// Calls a closure that has already been taken out of its node.
@inline(never)
func grandCentralClientCallout(_ work: consuming @escaping () -> Void) {
  work()
}

extension WorkNode {
  /// The entry of a node that carries only a closure.
  @usableFromInline
  static let closureEntry: Entry = { raw, thread in
    grandCentralClientCallout(of: WorkNode(raw), on: thread)
  }
}

/// Empties a node that carries a function, returns it to the cache, and calls the function.
@inline(never)
func grandCentralFunctionCallout(of node: WorkNode, on thread: ThreadContext) {
  let function = node.load(16, as: WorkFunction.self)
  let context = node.load(24, as: UnsafeMutableRawPointer?.self)
  NodeCache.put(node, thread)
  function(context)
}

/// Calls a function whose context the caller keeps.
@inline(never)
func grandCentralFunctionCallout(_ function: WorkFunction, _ context: UnsafeMutableRawPointer?) {
  function(context)
}
