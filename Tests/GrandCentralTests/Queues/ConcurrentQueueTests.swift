// Concurrent queues: contract rows Q8 and Q9.
import GrandCentral
import TestSupport
import Testing

@Suite("A concurrent queue") struct ConcurrentQueueTests {
  @Test func `runs items at the same time`() {
    let queue = DispatchQueue(label: "concurrent.together", attributes: .concurrent)
    let started = Latch(2)
    let met = Latch(2)
    for _ in 0..<2 {
      queue.async {
        started.open()
        if started.wait() { met.open() }
      }
    }
    #expect(met.wait())
  }

  @Test func `starts items in submission order`() {
    let queue = DispatchQueue(label: "concurrent.order", attributes: .concurrent)
    // Each item waits for the next one, so all must start before the first can end.
    let started = (0...8).map { _ in Latch() }
    let finished = Latch(8)
    started[8].open()
    for number in 0..<8 {
      queue.async {
        started[number].open()
        if started[number + 1].wait() { finished.open() }
      }
    }
    #expect(finished.wait())
  }

  @Test func `finishes items in any order`() {
    let queue = DispatchQueue(label: "concurrent.any", attributes: .concurrent)
    let gate = Latch()
    let order = Log<String>()
    queue.async {
      _ = gate.wait()
      order.append("first")
    }
    queue.async {
      order.append("second")
      gate.open()
    }
    #expect(order.waitForCount(2))
    #expect(order.all == ["second", "first"])
  }

  @Test func `runs every item exactly once`() {
    let queue = DispatchQueue(label: "concurrent.once", attributes: .concurrent)
    let runs = Log<Int>()
    #expect(
      onThreads(4) { producer in
        for number in 0..<500 { queue.async { runs.append(producer * 500 + number) } }
      })
    #expect(runs.waitForCount(2000))
    #expect(runs.all.sorted() == Array(0..<2000))
  }

  @Test func `starts nothing while suspended`() {
    let queue = DispatchQueue(label: "concurrent.suspended", attributes: .concurrent)
    let runs = Counter()
    queue.suspend()
    for _ in 0..<10 { queue.async { runs.add() } }
    // The pool has run other work meanwhile, so it had time to run these items.
    settle()
    #expect(runs.value == 0)
    queue.resume()
    #expect(runs.waitForValue(10))
  }

  @Test func `becomes serial on a serial target`() {
    let target = DispatchQueue(label: "concurrent.target")
    let queue = DispatchQueue(
      label: "concurrent.on.serial", attributes: .concurrent, target: target)
    let inside = Counter()
    let count = Unguarded(0)
    let done = Latch(1000)
    for _ in 0..<1000 {
      queue.async {
        inside.add()
        count.value += 1
        inside.add(-1)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(inside.peak == 1)
    #expect(target.sync { count.value } == 1000)
  }

  @Test func `releases captures and itself when its work is done`() {
    let gone = Latch(20)
    do {
      let queue = DispatchQueue(label: "concurrent.release", attributes: .concurrent)
      for _ in 0..<20 {
        let witness = Witness { gone.open() }
        queue.async { _ = witness }
      }
    }
    #expect(gone.wait())
  }
}
