// A root that keeps the nodes sent to it. A test decides when a node runs, and can run code at the
// moment when a node is sent.
import TestSupport

@testable import GrandCentralCore

final class CapturingRoot: DispatchQueue, @unchecked Sendable {
  private let nodes = Log<Captured>()
  private let taken = Counter()
  private let onSubmit = Box<(@Sendable () -> Void)?>(nil)

  struct Captured: @unchecked Sendable {
    let node: WorkNode
    let band: Band
  }

  init(_ label: String = "test.root") {
    super.init(root: label, kind: .root, qos: .unspecified)
  }

  /// Calls `body` once, at the next submission, on the submitting thread.
  func atNextSubmission(_ body: @escaping @Sendable () -> Void) { onSubmit.value = body }

  /// The number of nodes that were sent here and have not run.
  var count: Int { nodes.count - taken.value }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    nodes.append(Captured(node: node, band: node.traits.qos.band))
    if let body = onSubmit.value {
      onSubmit.value = nil
      body()
    }
  }

  /// The bands of all nodes sent here, oldest first.
  var bands: [Band] { nodes.all.map(\.band) }

  /// Runs the node at an index, out of order. Do not mix with `runOldest()`.
  func run(_ place: Int) { nodes.all[place].node.run(on: currentThread()) }

  /// Runs the oldest node on the calling thread.
  func runOldest() {
    let place = taken.add() - 1
    nodes.all[place].node.run(on: currentThread())
  }

  func runAll() {
    while count > 0 { runOldest() }
  }
}
