// Room: Models/ModelRoots. Root queues for models that have no pool: where work ends up that the
// part under test submits.

/// Runs each node at once, on a thread of its own. What a node does before its first atomic
/// operation costs the search nothing.
final class SpawningRoot: DispatchQueue, @unchecked Sendable {
  init(_ label: String = "model.spawning") {
    super.init(root: label, kind: .root, qos: .unspecified)
  }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    Checker.spawn("worker") { node.run(on: currentThread()) }
  }
}

/// Keeps each node until the verdict, in the order of submission.
final class KeepingRoot: DispatchQueue, @unchecked Sendable {
  private var nodes: [WorkNode] = []

  init(_ label: String = "model.keeping") {
    super.init(root: label, kind: .root, qos: .unspecified)
  }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) { nodes.append(node) }

  /// Runs what was submitted, and returns how many that was.
  @discardableResult
  func runAll() -> Int {
    let due = nodes
    nodes = []
    for node in due { node.run(on: currentThread()) }
    return due.count
  }
}
