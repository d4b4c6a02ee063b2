import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A worker's local queue") struct LocalQueueTests {
  private func fill(_ localQueue: LocalQueue, _ nodes: ArraySlice<WorkNode>, band: Band = .default)
  {
    for node in nodes {
      #expect(localQueue.accepts(band))
      localQueue.put(node, band: band)
    }
  }

  private func drain(_ localQueue: LocalQueue) -> [Int] {
    var numbers: [Int] = []
    while let node = localQueue.take() { numbers.append(node.number) }
    return numbers
  }

  @Test func `is empty at first`() {
    let localQueue = kept(LocalQueue())
    #expect(localQueue.isEmpty)
    #expect(localQueue.take() == nil)
    #expect(localQueue.steal(into: kept(LocalQueue())) == nil)
  }

  @Test(arguments: [1, 2, 255, 256])
  func `returns nodes oldest first`(count: Int) {
    let localQueue = kept(LocalQueue())
    fill(localQueue, NodeBlock(count).nodes[...])
    #expect(!localQueue.isEmpty)
    #expect(drain(localQueue) == Array(0..<count))
    #expect(localQueue.isEmpty)
  }

  @Test func `holds as many as its capacity and no more`() {
    let localQueue = kept(LocalQueue())
    let block = NodeBlock(LocalQueue.capacity + 1)
    fill(localQueue, block.nodes.dropLast())
    #expect(!localQueue.accepts(.default))
    #expect(localQueue.take()?.number == 0)
    #expect(localQueue.accepts(.default))
    fill(localQueue, block.nodes.suffix(1))
    #expect(!localQueue.accepts(.default))
    #expect(drain(localQueue) == Array(1...LocalQueue.capacity))
  }

  @Test func `keeps the order while its index wraps many times`() {
    let localQueue = kept(LocalQueue())
    let block = NodeBlock(10_000)
    var expected = 0
    // The queue holds 0 to 250 nodes, so every slot is the first and the last at some time.
    var next = 0
    while expected < block.nodes.count {
      for _ in 0..<97 where next < block.nodes.count && next - expected < 250 {
        fill(localQueue, block.nodes[next...next])
        next += 1
      }
      for _ in 0..<89 where expected < next {
        #expect(localQueue.take()?.number == expected)
        expected += 1
      }
    }
    #expect(localQueue.isEmpty)
  }

  @Test(arguments: Band.allCases.filter { $0 != .unspecified })
  func `accepts nodes of one band until it is empty again`(band: Band) {
    let localQueue = kept(LocalQueue())
    let block = NodeBlock(2)
    fill(localQueue, block.nodes[0...0], band: band)
    #expect(localQueue.band == band)
    for other in Band.allCases { #expect(localQueue.accepts(other) == (other == band)) }
    _ = localQueue.take()
    for other in Band.allCases { #expect(localQueue.accepts(other)) }
    let another: Band = band == .utility ? .background : .utility
    fill(localQueue, block.nodes[1...1], band: another)
    #expect(localQueue.band == another)
  }

  @Test(
    arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (255, 128), (256, 128)])
  func `loses its older half to a thief`(count: Int, stolen: Int) {
    let victim = kept(LocalQueue())
    let thief = kept(LocalQueue())
    fill(victim, NodeBlock(count).nodes[...], band: .userInitiated)
    #expect(victim.steal(into: thief)?.number == 0)
    #expect(thief.band == .userInitiated)
    #expect(drain(thief) == Array(1..<stolen))
    #expect(drain(victim) == Array(stolen..<count))
  }

  @Test func `passes its band to a thief of another band`() {
    let victim = kept(LocalQueue())
    let thief = kept(LocalQueue())
    let block = NodeBlock(5)
    fill(thief, block.nodes[0...0], band: .background)
    #expect(thief.take() != nil)
    fill(victim, block.nodes[1...4], band: .userInteractive)
    _ = victim.steal(into: thief)
    #expect(thief.band == .userInteractive)
    #expect(thief.accepts(.userInteractive) && !thief.accepts(.background))
  }

  @Test(arguments: [1, 3])
  func `loses and doubles nothing between its owner and thieves`(thieves: Int) {
    let count = stressed(60_000)
    let block = NodeBlock(count)
    let tally = Tally(count)
    let localQueue = kept(LocalQueue())
    let isFilled = Number()
    let ended = onThreads(thieves + 1) { thread in
      if thread == 0 {
        for number in 0..<count {
          while !localQueue.accepts(.default) {
            if let node = localQueue.take() { tally.add(node.number) }
          }
          localQueue.put(block.nodes[number], band: .default)
          if number % 3 == 0, let node = localQueue.take() { tally.add(node.number) }
        }
        isFilled.add()
        while let node = localQueue.take() { tally.add(node.number) }
        return
      }
      let own = kept(LocalQueue())
      while isFilled.now == 0 || !localQueue.isEmpty {
        guard let node = localQueue.steal(into: own) else {
          spinHint()
          continue
        }
        tally.add(node.number)
        var last = node.number
        while let node = own.take() {
          // The nodes that one thief takes at a time are in order.
          if node.number <= last { tally.add(node.number) }
          last = node.number
          tally.add(node.number)
        }
      }
    }
    #expect(ended)
    #expect(tally.exceptions.isEmpty, "not once: \(tally.exceptions.prefix(5))")
  }

  @Test func `is stolen from while another thief steals from the first`() {
    let count = stressed(30_000)
    let block = NodeBlock(count)
    let tally = Tally(count)
    let localQueues = (0..<3).map { _ in kept(LocalQueue()) }
    let ran = Number()
    let ended = onThreads(3) { thread in
      let own = localQueues[thread]
      var next = 0
      while ran.now < count {
        if thread == 0, next < count, own.accepts(.default) {
          own.put(block.nodes[next], band: .default)
          next += 1
          // Keeps the queue full most of the time.
          if next % 4 != 0 { continue }
        }
        let node =
          own.take() ?? localQueues[(thread + 1) % 3].steal(into: own)
          ?? localQueues[(thread + 2) % 3].steal(into: own)
        guard let node else {
          spinHint()
          continue
        }
        tally.add(node.number)
        ran.add()
      }
    }
    #expect(ended)
    #expect(tally.exceptions.isEmpty, "not once: \(tally.exceptions.prefix(5))")
    #expect(localQueues.allSatisfy { $0.isEmpty })
  }
}
