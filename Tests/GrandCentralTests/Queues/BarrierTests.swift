// Barriers, readers and writers: contract rows Q10 and Q11.
import GrandCentral
import TestSupport
import Testing

@Suite("A barrier") struct BarrierTests {
  enum Kind: CaseIterable, CustomTestStringConvertible {
    case asyncFlag, workItem, syncFlag, syncWorkItem

    var testDescription: String { "\(self)" }

    func submit(to queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
      switch self {
      case .asyncFlag: queue.async(flags: .barrier, execute: body)
      case .workItem: queue.async(execute: DispatchWorkItem(flags: .barrier, block: body))
      case .syncFlag: queue.sync(flags: .barrier, execute: body)
      case .syncWorkItem: queue.sync(execute: DispatchWorkItem(flags: .barrier, block: body))
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `waits for everything before it`(_ kind: Kind) {
    let queue = DispatchQueue(label: "barrier.before", attributes: .concurrent)
    let gate = Latch()
    let order = Log<String>()
    let started = Latch(4)
    for _ in 0..<4 {
      queue.async {
        started.open()
        _ = gate.wait()
        order.append("item")
      }
    }
    #expect(started.wait())
    let thread = TestThread { kind.submit(to: queue) { order.append("barrier") } }
    gate.open()
    #expect(thread.join())
    #expect(order.waitForCount(5))
    #expect(order.all == ["item", "item", "item", "item", "barrier"])
  }

  @Test(arguments: Kind.allCases)
  func `excludes all other items`(_ kind: Kind) {
    let queue = DispatchQueue(label: "barrier.alone", attributes: .concurrent)
    let inside = Counter()
    let disturbed = Counter()
    let guarded = Unguarded(0)
    let done = Latch(800)
    #expect(
      onThreads(2) { _ in
        for number in 0..<400 {
          if number % 8 == 0 {
            kind.submit(to: queue) {
              guarded.value += 1
              if inside.value != 0 { disturbed.add() }
              done.open()
            }
          } else {
            queue.async {
              inside.add()
              inside.add(-1)
              done.open()
            }
          }
        }
      })
    #expect(done.wait())
    #expect(disturbed.value == 0)
    #expect(queue.sync(flags: .barrier) { guarded.value } == 100)
  }

  @Test func `holds back what comes after it`() {
    let queue = DispatchQueue(label: "barrier.after", attributes: .concurrent)
    let order = Log<String>()
    let gate = Latch()
    queue.async(flags: .barrier) {
      _ = gate.wait()
      order.append("barrier")
    }
    for _ in 0..<4 { queue.async { order.append("item") } }
    gate.open()
    #expect(order.waitForCount(5))
    #expect(order.all.first == "barrier")
  }

  @Test func `holds back a sync that comes after it`() {
    let queue = DispatchQueue(label: "barrier.sync", attributes: .concurrent)
    let gate = Latch()
    let started = Latch()
    let order = Log<String>()
    queue.async(flags: .barrier) {
      started.open()
      _ = gate.wait()
      order.append("barrier")
    }
    #expect(started.wait())
    let reader = TestThread { queue.sync { order.append("reader") } }
    gate.open()
    #expect(reader.join())
    #expect(order.all == ["barrier", "reader"])
  }

  @Test func `runs in order with other barriers`() {
    let queue = DispatchQueue(label: "barrier.order", attributes: .concurrent)
    let order = Unguarded<[Int]>([])
    for number in 0..<1000 { queue.async(flags: .barrier) { order.value.append(number) } }
    queue.sync(flags: .barrier) {}
    #expect(order.value == Array(0..<1000))
  }

  @Test func `is ordinary work on a global queue`() {
    let queue = DispatchQueue.global()
    let started = Latch()
    let gate = Latch()
    let done = Latch(2)
    queue.async {
      started.open()
      _ = gate.wait()
      done.open()
    }
    #expect(started.wait())
    // The barrier would never run if it waited for the item before it.
    queue.async(flags: .barrier) {
      gate.open()
      done.open()
    }
    #expect(done.wait())
  }

  @Test func `is ordinary work on a serial queue`() {
    let queue = DispatchQueue(label: "barrier.serial")
    let order = Unguarded<[Int]>([])
    for number in 0..<100 {
      queue.async(flags: number % 3 == 0 ? .barrier : []) { order.value.append(number) }
    }
    queue.sync(flags: .barrier) {}
    #expect(order.value == Array(0..<100))
  }
}

@Suite("Readers and a writer") struct ReaderWriterTests {
  @Test func `see whole writes only`() {
    let queue = DispatchQueue(label: "readers.writer", attributes: .concurrent)
    let pair = Unguarded((left: 0, right: 0))
    let torn = Counter()
    let writes = 200
    #expect(
      onThreads(4) { thread in
        for round in 0..<1000 {
          if thread == 0 && round < writes {
            queue.async(flags: .barrier) {
              pair.value.left += 1
              pair.value.right += 1
            }
          } else {
            let (left, right) = queue.sync { (pair.value.left, pair.value.right) }
            if left != right { torn.add() }
          }
        }
      })
    #expect(torn.value == 0)
    #expect(queue.sync(flags: .barrier) { pair.value.left } == writes)
  }

  @Test func `read in parallel`() {
    let queue = DispatchQueue(label: "readers.parallel", attributes: .concurrent)
    let inside = Latch(3)
    let met = Counter()
    #expect(
      onThreads(3) { _ in
        queue.sync {
          inside.open()
          if inside.wait() { met.add() }
        }
      })
    #expect(met.value == 3)
  }

  @Test func `never starve the writer`() {
    let queue = DispatchQueue(label: "readers.fair", attributes: .concurrent)
    let stop = Box(false)
    let readers = (0..<3).map { _ in
      TestThread("reader") {
        while !stop.value { queue.sync {} }
      }
    }
    let writes = Latch(50)
    for _ in 0..<50 { queue.async(flags: .barrier) { writes.open() } }
    #expect(writes.wait())
    stop.value = true
    for reader in readers { #expect(reader.join()) }
  }
}
