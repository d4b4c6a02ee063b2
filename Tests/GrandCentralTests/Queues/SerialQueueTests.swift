// Serial queues: contract rows Q2 and Q3.
import GrandCentral
import TestSupport
import Testing

@Suite("A serial queue") struct SerialQueueTests {
  @Test func `runs items in submission order`() {
    let queue = DispatchQueue(label: "serial.order")
    let order = Unguarded<[Int]>([])
    let done = Latch()
    for number in 0..<10_000 { queue.async { order.value.append(number) } }
    queue.async { done.open() }
    #expect(done.wait())
    #expect(order.value == Array(0..<10_000))
  }

  @Test func `runs one item at a time`() {
    let queue = DispatchQueue(label: "serial.exclusion")
    let inside = Counter()
    let unguarded = Unguarded(0)
    let done = Latch(4 * 500)
    #expect(
      onThreads(4) { _ in
        for _ in 0..<500 {
          queue.async {
            inside.add()
            unguarded.value += 1
            inside.add(-1)
            done.open()
          }
        }
      })
    #expect(done.wait())
    #expect(inside.peak == 1)
    #expect(unguarded.value == 2000)
  }

  @Test func `keeps the order of each producer`() {
    let queue = DispatchQueue(label: "serial.producers")
    let seen = Unguarded<[[Int]]>([[], [], [], []])
    let done = Latch(4 * 1000)
    #expect(
      onThreads(4) { producer in
        for number in 0..<1000 {
          queue.async {
            seen.value[producer].append(number)
            done.open()
          }
        }
      })
    #expect(done.wait())
    for producer in 0..<4 { #expect(seen.value[producer] == Array(0..<1000)) }
  }

  @Test func `returns from async before the item runs`() {
    let queue = DispatchQueue(label: "serial.returns")
    let gate = Latch()
    let done = Latch()
    queue.async {
      _ = gate.wait()
      done.open()
    }
    // `async` returns here although the item waits for the latch that opens next.
    gate.open()
    #expect(done.wait())
  }

  @Test func `runs concurrently with other queues`() {
    let first = DispatchQueue(label: "serial.beside.1")
    let second = DispatchQueue(label: "serial.beside.2")
    let firstStarted = Latch()
    let secondStarted = Latch()
    let met = Latch(2)
    first.async {
      firstStarted.open()
      if secondStarted.wait() { met.open() }
    }
    second.async {
      secondStarted.open()
      if firstStarted.wait() { met.open() }
    }
    #expect(met.wait())
  }

  @Test func `takes work from inside its own items`() {
    let queue = DispatchQueue(label: "serial.inside")
    let order = Log<String>()
    queue.async {
      order.append("outer begins")
      queue.async { order.append("inner") }
      order.append("outer ends")
    }
    #expect(order.waitForCount(3))
    #expect(order.all == ["outer begins", "outer ends", "inner"])
  }

  @Test func `takes work from deinit of a captured object`() {
    let queue = DispatchQueue(label: "serial.deinit")
    let done = Latch()
    // The worker destroys the item's closure and so the witness, which then submits once more.
    do {
      let witness = Witness { queue.async { done.open() } }
      queue.async { _ = witness }
    }
    #expect(done.wait())
  }

  @Test func `runs a chain of items that submit the next`() {
    let queue = DispatchQueue(label: "serial.chain")
    let done = Latch()
    @Sendable func step(_ remaining: Int) {
      if remaining == 0 { done.open() } else { queue.async { step(remaining - 1) } }
    }
    queue.async { step(10_000) }
    #expect(done.wait())
  }

  @Test func `plays ping-pong with another`() {
    let ping = DispatchQueue(label: "serial.ping")
    let pong = DispatchQueue(label: "serial.pong")
    let done = Latch()
    @Sendable func hit(_ remaining: Int) {
      if remaining == 0 { return done.open() }
      (remaining % 2 == 0 ? ping : pong).async { hit(remaining - 1) }
    }
    hit(2000)
    #expect(done.wait())
  }

  @Test func `makes what one item wrote visible to the next`() {
    let queue = DispatchQueue(label: "serial.visible")
    let list = Unguarded<[String]>([])
    let done = Latch()
    for number in 0..<100 { queue.async { list.value.append("item \(number)") } }
    queue.async {
      if list.value.count == 100 { done.open() }
    }
    #expect(done.wait())
  }

  @Test func `releases a closure's captures when it has run`() {
    let queue = DispatchQueue(label: "serial.captures")
    let gone = Latch()
    do {
      let witness = Witness { gone.open() }
      queue.async { _ = witness }
    }
    #expect(gone.wait())
  }
}
