import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("An injector") struct InjectorTests {
  private func takeOne(_ injector: Injector) -> Int? {
    injector.take(atMost: 1, localQueue: kept(LocalQueue()), band: .default)?.number
  }

  @Test func `is empty at first, and again after the last node`() {
    let injector = Injector()
    #expect(injector.isEmpty)
    #expect(takeOne(injector) == nil)
    injector.push(NodeBlock(1).nodes[0])
    #expect(!injector.isEmpty)
    #expect(takeOne(injector) == 0)
    #expect(injector.isEmpty)
  }

  @Test func `returns nodes oldest first`() {
    let injector = Injector()
    for node in NodeBlock(100).nodes { injector.push(node) }
    #expect((0..<100).map { _ in takeOne(injector) } == Array(0..<100))
    #expect(takeOne(injector) == nil)
  }

  @Test func `returns what it has taken in before later nodes`() {
    let injector = Injector()
    let block = NodeBlock(6)
    for node in block.nodes[0..<3] { injector.push(node) }
    #expect(takeOne(injector) == 0)
    for node in block.nodes[3..<6] { injector.push(node) }
    #expect(!injector.isEmpty)
    #expect((1..<6).map { _ in takeOne(injector) } == Array(1..<6))
    #expect(injector.isEmpty)
  }

  @Test(arguments: [(1, 0), (2, 1), (10, 9), (64, 63), (1000, 99)])
  func `fills the taker's local queue with what follows`(most: Int, inLocalQueue: Int) {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    for node in NodeBlock(100).nodes { injector.push(node) }
    #expect(injector.take(atMost: most, localQueue: localQueue, band: .utility)?.number == 0)
    var numbers: [Int] = []
    if inLocalQueue > 0 { #expect(localQueue.band == .utility) }
    while let node = localQueue.take() { numbers.append(node.number) }
    #expect(numbers == Array(1..<inLocalQueue + 1))
    #expect(injector.isEmpty == (inLocalQueue == 99))
    if inLocalQueue < 99 { #expect(takeOne(injector) == inLocalQueue + 1) }
  }

  @Test func `puts no more into the local queue than it holds`() {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    for node in NodeBlock(400).nodes { injector.push(node) }
    #expect(injector.take(atMost: 400, localQueue: localQueue, band: .default)?.number == 0)
    #expect(!localQueue.accepts(.default))
    #expect(takeOne(injector) == LocalQueue.capacity + 1)
  }

  @Test func `puts nothing into a local queue of another band`() {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    let block = NodeBlock(4)
    localQueue.put(block.nodes[0], band: .background)
    for node in block.nodes[1...] { injector.push(node) }
    #expect(injector.take(atMost: 64, localQueue: localQueue, band: .userInteractive)?.number == 1)
    #expect(localQueue.take()?.number == 0 && localQueue.take() == nil)
    #expect(takeOne(injector) == 2)
  }

  @Test(arguments: [(4, 1), (3, 2), (1, 3)])
  func `loses and doubles nothing between many pushers and takers`(
    pushers: Int, takers: Int
  ) {
    let each = stressed(20_000)
    let block = NodeBlock(pushers * each)
    let tally = Tally(block.nodes.count)
    let injector = Injector()
    let taken = Number()
    let disorder = Number()
    let ended = onThreads(pushers + takers) { thread in
      if thread < pushers {
        for number in thread * each..<(thread + 1) * each { injector.push(block.nodes[number]) }
        return
      }
      let localQueue = kept(LocalQueue())
      // One taker receives the nodes of one pusher in order.
      var last = Array(repeating: -1, count: pushers)
      while taken.now < block.nodes.count {
        var node = injector.take(atMost: 16, localQueue: localQueue, band: .default)
        if node == nil { spinHint() }
        while let current = node {
          tally.add(current.number)
          taken.add()
          let pusher = current.number / each
          if current.number <= last[pusher] { disorder.add() }
          last[pusher] = current.number
          node = localQueue.take()
        }
      }
    }
    #expect(ended)
    #expect(tally.exceptions.isEmpty, "not once: \(tally.exceptions.prefix(5))")
    #expect(disorder.now == 0)
    #expect(injector.isEmpty)
  }
}
