// A root that keeps what is sent to it, so that a test decides when an item or an activation runs,
// and what happens at the very moment it is sent.
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

  /// Called once, at the next submission, on the thread that submits.
  func atNextSubmission(_ body: @escaping @Sendable () -> Void) { onSubmit.value = body }

  /// How many nodes were sent here and not run yet.
  var count: Int { nodes.count - taken.value }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    nodes.append(Captured(node: node, band: node.traits.qos.band))
    if let body = onSubmit.value {
      onSubmit.value = nil
      body()
    }
  }

  /// In which band each node was sent, oldest first.
  var bands: [Band] { nodes.all.map(\.band) }

  /// Runs one node out of turn. Not to be mixed with `runOldest()`.
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
