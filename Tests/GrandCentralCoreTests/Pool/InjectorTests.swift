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

  @Test(arguments: [0, 3, 100])
  func `returns nodes that are put first before all others`(others: Int) {
    let injector = Injector()
    let block = NodeBlock(others + 5)
    for node in block.nodes[5...] { injector.push(node) }
    let before = injector.counts()
    for first in [2, 0] {
      let last = first == 2 ? 4 : 1
      for number in first..<last { block.nodes[number].next = block.nodes[number + 1] }
      injector.putFirst(
        from: block.nodes[first], to: block.nodes[last], count: last - first + 1)
      #expect(!injector.isEmpty)
    }
    #expect(injector.counts().came == before.came + 5)
    #expect((0..<others + 5).map { _ in takeOne(injector) } == Array(0..<others + 5))
    #expect(injector.isEmpty)
  }

  @Test(arguments: [1, 2, 10, Injector.chunkLength - 1, Injector.chunkLength, 1000])
  func `fills the taker's local queue with what follows, up to a chunk`(most: Int) {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    let inLocalQueue = min(most, Injector.chunkLength) - 1
    for node in NodeBlock(100).nodes { injector.push(node) }
    #expect(injector.take(atMost: most, localQueue: localQueue, band: .utility)?.number == 0)
    var numbers: [Int] = []
    if inLocalQueue > 0 { #expect(localQueue.band == .utility) }
    while let node = localQueue.take() { numbers.append(node.number) }
    #expect(numbers == Array(1..<inLocalQueue + 1))
    #expect(!injector.isEmpty)
    #expect(takeOne(injector) == inLocalQueue + 1)
  }

  @Test func `puts no more into the local queue than it holds`() {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    for node in NodeBlock(LocalQueue.capacity - 10).nodes { localQueue.put(node, band: .default) }
    for node in NodeBlock(400).nodes { injector.push(node) }
    #expect(injector.take(atMost: 400, localQueue: localQueue, band: .default)?.number == 0)
    #expect(!localQueue.accepts(.default))
    #expect(takeOne(injector) == 11)
  }

  @Test(arguments: [1, 7, 64, 300])
  func `keeps the order over many chunks, whatever a taker takes`(most: Int) {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    let block = NodeBlock(1000)
    var taken: [Int] = []
    for (number, node) in block.nodes.enumerated() {
      injector.push(node)
      guard number % 331 == 330 else { continue }
      if let first = injector.take(atMost: most, localQueue: localQueue, band: .default) {
        taken.append(first.number)
      }
      while let next = localQueue.take() { taken.append(next.number) }
    }
    while let first = injector.take(atMost: most, localQueue: localQueue, band: .default) {
      taken.append(first.number)
      while let next = localQueue.take() { taken.append(next.number) }
    }
    #expect(taken == Array(0..<1000))
    #expect(injector.isEmpty && injector.chunks == nil && injector.arrived == nil)
  }

  @Test func `counts what came and went, wherever it waits`() {
    let injector = Injector()
    for node in NodeBlock(130).nodes { injector.push(node) }
    #expect(injector.counts() == (130, 0))
    #expect(takeOne(injector) == 0)
    #expect(injector.counts() == (130, 1))
    while takeOne(injector) != nil {}
    #expect(injector.counts() == (130, 130))
  }

  /// As when the lock was held by another thread all the time.
  @Test(arguments: [62, 63, 64, 500])
  func `takes an inbox that no thread could move`(count: Int) {
    let injector = Injector()
    let localQueue = kept(LocalQueue())
    for node in NodeBlock(count).nodes {
      injector.inbox.change(.relaxed) { list in
        node.next = list.newest
        return (list.adding(node), ())
      }
    }
    #expect(injector.inbox.load(ordering: .relaxed).isExact == (count < 63))
    var taken: [Int] = []
    while let first = injector.take(atMost: 64, localQueue: localQueue, band: .default) {
      taken.append(first.number)
      while let next = localQueue.take() { taken.append(next.number) }
    }
    #expect(taken == Array(0..<count))
    #expect(injector.counts() == (UInt32(count), UInt32(count)))
  }

  @Test func `returns the nodes of its chunks to the cache`() {
    let thread = currentThread()
    // An empty list takes a chain from the depot, which is shorter if a thread has ended with it.
    for node in (0..<8).map({ _ in NodeCache.take(thread) }) { NodeCache.put(node, thread) }
    let before = Int(thread.pointee.node_count)
    let injector = Injector()
    for node in NodeBlock(3 * Injector.chunkLength).nodes { injector.push(node) }
    while takeOne(injector) != nil {}
    let slack = Int(thread.pointee.node_count) - before
    #expect(slack % NodeCache.chainLength == 0, "\(slack) nodes more than before")
  }

  @Test(arguments: [1, 2, 5])
  func `keeps the order of a thread's nodes in further inboxes`(inboxes: Int) {
    let injector = Injector(inboxes: inboxes)
    let (threads, each) = (4, 400)
    let block = NodeBlock(threads * each)
    injector.useFurther()
    let ended = onThreads(threads) { thread in
      for number in thread * each..<(thread + 1) * each { injector.push(block.nodes[number]) }
    }
    #expect(ended)
    let localQueue = kept(LocalQueue())
    var numbers = Array(repeating: [Int](), count: threads)
    while let first = injector.take(atMost: 64, localQueue: localQueue, band: .default) {
      numbers[first.number / each].append(first.number % each)
      while let next = localQueue.take() { numbers[next.number / each].append(next.number % each) }
    }
    for own in numbers { #expect(own == Array(0..<each)) }
    #expect(injector.isEmpty && injector.chunks == nil && injector.arrived == nil)
    #expect(injector.counts() == (UInt32(threads * each), UInt32(threads * each)))
  }

  /// Its second thread pushes each node after the first one has pushed the node before.
  @Test(arguments: [2, 5])
  func `keeps the order of a concurrent queue's items between threads`(inboxes: Int) {
    let injector = Injector(inboxes: inboxes)
    let block = NodeBlock(400)
    // Only its address counts. Other nodes are in other inboxes.
    let carrier = block.nodes[0].raw
    for node in block.nodes {
      node.traits = WorkTraits(qos: .unspecified).union(.carried)
      node.carrier = carrier
    }
    let pushed = Number()
    let ended = onThreads(4) { thread in
      while pushed.now < block.nodes.count {
        let next = pushed.now
        guard next < block.nodes.count, next % 4 == thread else {
          spinHint()
          continue
        }
        if next == 70 { injector.useFurther() }
        injector.push(block.nodes[next])
        pushed.add()
      }
    }
    #expect(ended)
    #expect(block.nodes.map { _ in takeOne(injector) } == Array(0..<block.nodes.count))
    #expect(injector.isEmpty && injector.chunks == nil && injector.arrived == nil)
    #expect(injector.counts() == (400, 400))
  }

  @Test(arguments: [1, 40, 62, 100])
  func `puts what waits in the first inbox before what follows it in a further one`(first: Int) {
    let injector = Injector(inboxes: 2)
    let block = NodeBlock(2 * first)
    for node in block.nodes[..<first] {
      injector.inbox.change(.relaxed) { list in
        node.next = list.newest
        return (list.adding(node), ())
      }
    }
    injector.useFurther()
    for node in block.nodes[first...] { injector.push(node) }
    #expect(block.nodes.map { _ in takeOne(injector) } == Array(0..<2 * first))
    #expect(injector.isEmpty && injector.chunks == nil && injector.arrived == nil)
    #expect(injector.counts() == (UInt32(2 * first), UInt32(2 * first)))
  }

  @Test func `takes a single node from a further inbox while another one is always full`() {
    let injector = Injector(inboxes: 2)
    let length = Injector.chunkLength
    let block = NodeBlock(100 * length + 1)
    let single = block.nodes.count - 1
    injector.useFurther()
    for node in block.nodes[0..<2 * length] { injector.push(node) }
    // The kernel numbers new threads in turn, so one of the next uses the other inbox.
    let own = currentThread().pointee.tid % 2
    let pushed = Number()
    while pushed.now == 0 {
      let ended = onThreads(1) { _ in
        guard currentThread().pointee.tid % 2 != own else { return }
        injector.push(block.nodes[single])
        pushed.add()
      }
      #expect(ended)
    }
    var rounds = 2
    var isTaken = false
    while rounds < 100 && !isTaken {
      for node in block.nodes[rounds * length..<(rounds + 1) * length] {
        injector.push(node)
        if takeOne(injector) == single { isTaken = true }
      }
      rounds += 1
    }
    #expect(isTaken)
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
