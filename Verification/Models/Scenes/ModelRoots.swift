// Room: Models/ModelRoots. Root queues for models without a pool; they receive what the tested part
// submits.

/// Runs each node at once, on a new thread. The steps of a node before its first atomic operation
/// cost the search nothing.
final class SpawningRoot: DispatchQueue, @unchecked Sendable {
  init(_ label: String = "model.spawning") {
    super.init(root: label, kind: .root, qos: .unspecified)
  }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    Checker.spawn("worker") { node.run(on: currentThread()) }
  }
}

/// Keeps each node until the verdict, in the order of submission.
class KeepingRoot: DispatchQueue, @unchecked Sendable {
  private var nodes: [WorkNode] = []

  init(_ label: String = "model.keeping") {
    super.init(root: label, kind: .root, qos: .unspecified)
  }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) { nodes.append(node) }

  /// Runs the submitted nodes and returns their number.
  @discardableResult
  final func runAll() -> Int {
    let due = nodes
    nodes = []
    for node in due { node.run(on: currentThread()) }
    return due.count
  }
}

/// A KeepingRoot that counts its nodes in plain memory: a thread that reads the number must be
/// ordered behind each submission.
final class CountingRoot: KeepingRoot, @unchecked Sendable {
  private let submitted = Plain()

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    super.submitToRoot(node, from: thread)
    submitted.value += 1
  }

  func expectSubmitted(_ count: Int) {
    Checker.expect(
      submitted.value == count, "\(submitted.value) notifications are on the queue, not \(count)")
  }
}
