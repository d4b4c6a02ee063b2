// Room: Models/Parcels. Nodes that are handed from thread to thread, and counted where they arrive.

/// Nodes of which each must arrive exactly once. Arrivals are counted in plain memory: a node that
/// arrives at two threads is a race. They come from the stage's cache, which every execution fills
/// anew.
final class Parcels {
  private let nodes: [WorkNode]
  private let arrivals: [Plain]

  init(_ count: Int) {
    nodes = (0..<count).map { _ in NodeCache.take(currentThread()) }
    arrivals = (0..<count).map { _ in Plain() }
  }

  /// The node with that number, written by the calling thread.
  func send(_ number: Int) -> WorkNode {
    nodes[number].context = UnsafeMutableRawPointer(bitPattern: number + 1)
    return nodes[number]
  }

  /// Returns the node's number. What its sender wrote must be seen.
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

/// A ring that is gone at the end of its execution.
final class OwnedLocalQueue {
  let localQueue: LocalQueue
  /// Head and tail wrap around after two nodes, unless another place is named.
  init(startingAt first: UInt32 = .max - 1) { localQueue = LocalQueue(startingAt: first) }
  deinit { localQueue.dismantle() }
}
