// Room: Models/SpawningRoot. A root queue without a pool: each node that comes to it runs on a thread of its
// own, at once or whenever the schedule wants. So whatever a lane sends can be overtaken by anything.

final class SpawningRoot: DispatchQueue, @unchecked Sendable {
  init() { super.init(root: "root", kind: .root, qos: .unspecified) }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    Checker.spawn("worker") { node.run(on: currentThread()) }
  }
}

/// A root that keeps what comes to it, for the stage to run at the end.
final class KeepingRoot: DispatchQueue, @unchecked Sendable {
  private let lock = Lock()
  @Cell private var kept: [WorkNode] = []

  init() { super.init(root: "root", kind: .root, qos: .unspecified) }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    lock.withLock { kept.append(node) }
  }

  /// Runs what has come, on the calling thread. Returns how many nodes that were.
  @discardableResult
  func runAll() -> Int {
    var count = 0
    while true {
      let nodes = lock.withLock {
        let nodes = kept
        kept = []
        return nodes
      }
      if nodes.isEmpty { return count }
      for node in nodes { node.run(on: currentThread()) }
      count += nodes.count
    }
  }
}
