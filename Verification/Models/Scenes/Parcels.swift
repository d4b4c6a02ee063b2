// Room: Models/Parcels. Nodes that threads pass to each other, counted on arrival.

/// Nodes of which each must arrive exactly once. Arrivals are counted in plain memory, so a node
/// that arrives at two threads is a data race. The nodes come from the stage's cache, which is
/// refilled for each execution.
final class Parcels {
  private let nodes: [WorkNode]
  private let arrivals: [Plain]

  init(_ count: Int) {
    nodes = (0..<count).map { _ in NodeCache.take(currentThread()) }
    arrivals = (0..<count).map { _ in Plain() }
  }

  /// Writes the node with this number, on the calling thread, and returns it.
  func send(_ number: Int) -> WorkNode {
    nodes[number].context = UnsafeMutableRawPointer(bitPattern: number + 1)
    nodes[number].traits = WorkTraits(qos: .unspecified)
    return nodes[number]
  }

  /// Counts the arrival and returns the node's number. The sender's write must be visible.
  @discardableResult
  func receive(_ node: WorkNode) -> Int {
    let number = Int(bitPattern: node.context) - 1
    Checker.expect(nodes.indices.contains(number) && nodes[number] == node, "no node of ours")
    arrivals[number].value += 1
    return number
  }

  func receiveAll(from next: () -> WorkNode?) {
    while let node = next() { receive(node) }
  }

  func expectAllArrived() {
    for (number, arrival) in arrivals.enumerated() {
      Checker.expect(
        arrival.value == 1, "node \(number) arrived \(arrival.value) times")
    }
  }

  func hasArrived(_ number: Int) -> Bool { arrivals[number].value > 0 }
}

/// A local queue that is freed at the end of its execution.
final class OwnedLocalQueue {
  private let words = UnsafeMutablePointer<LocalQueue.Words>.allocate(capacity: 1)
  let localQueue: LocalQueue
  /// Head and tail wrap around after two nodes by default.
  init(startingAt first: UInt32 = .max - 1) {
    localQueue = LocalQueue(at: words, startingAt: first)
  }
  deinit {
    localQueue.dismantle()
    words.deinitialize(count: 1)
    words.deallocate()
  }
}
