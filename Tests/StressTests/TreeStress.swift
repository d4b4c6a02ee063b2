import GrandCentral
import TestSupport
import Testing

/// Random hierarchies with random work. Every item runs once. Items never overlap if a queue on
/// their chain of targets is serial. Each thread's items keep their order on serial queues.
@Suite("Hierarchies under stress", .serialized) struct TreeStress {
  @Test func `random trees keep exclusion and lose nothing`() {
    var random = SeededGenerator(for: "trees")
    for _ in 0..<stressed(20) { runTree(&random) }
  }

  private func makeTree(_ random: inout SeededGenerator) -> [TreeNode] {
    var nodes: [TreeNode] = []
    for index in 0..<Int.random(in: 2...10, using: &random) {
      let parent = Bool.random(using: &random) ? nodes.randomElement(using: &random) : nil
      nodes.append(
        TreeNode(index: index, isSerial: Bool.random(using: &random), parent: parent))
    }
    return nodes
  }

  private func runTree(_ random: inout SeededGenerator) {
    let nodes = makeTree(&random)
    let overlaps = Counter()
    let threads = 4
    let each = 200
    let done = Latch(threads * each)
    let seeds = (0..<threads).map { _ in random.next() }
    let ended = onThreads(threads) { thread in
      var random = SeededGenerator(seed: seeds[thread])
      for _ in 0..<each {
        let node = nodes.randomElement(using: &random)!
        let work: @Sendable () -> Void = {
          node.visit { overlaps.add() }
          done.open()
        }
        switch random.next() % 8 {
        case 0: node.queue.sync(execute: work)
        case 1: node.queue.sync(flags: .barrier, execute: work)
        case 2: node.queue.async(flags: .barrier, execute: work)
        case 3: node.queue.async(execute: DispatchWorkItem(block: work))
        case 4:
          node.queue.suspend()
          node.queue.async(execute: work)
          node.queue.resume()
        default: node.queue.async(execute: work)
        }
      }
    }
    #expect(ended && done.wait(), "seed \(random.seed)")
    #expect(overlaps.value == 0, "seed \(random.seed)")
  }
}

/// A queue of a random tree, with the checks of its items.
private final class TreeNode: Sendable {
  let queue: DispatchQueue
  /// The serial queues among this queue and its targets; at most one item is inside each.
  private let serialQueues: [TreeNode]
  private let ownCounter: Counter?

  init(index: Int, isSerial: Bool, parent: TreeNode?) {
    queue = DispatchQueue(
      label: "tree.\(index)", attributes: isSerial ? [] : .concurrent, target: parent?.queue)
    ownCounter = isSerial ? Counter() : nil
    serialQueues = (parent.map { [$0] + $0.serialQueues } ?? []).filter { $0.ownCounter != nil }
  }

  /// Enters and leaves every serial queue of the chain.
  func visit(onOverlap: () -> Void) {
    let counters = ([self] + serialQueues).compactMap(\.ownCounter)
    for counter in counters where counter.add() != 1 { onOverlap() }
    for counter in counters { counter.add(-1) }
  }
}
