// Suspension and activation: contract rows Q12 and Q13.
import GrandCentral
import TestSupport
import Testing

@Suite("A suspended queue") struct SuspensionTests {
  @Test(arguments: QueueKind.allCases)
  func `starts nothing until resumed`(_ kind: QueueKind) {
    let queue = DispatchQueue(label: "suspended.nothing", attributes: kind.attributes)
    let runs = Counter()
    queue.suspend()
    for _ in 0..<5 { queue.async { runs.add() } }
    settle()
    #expect(runs.value == 0)
    queue.resume()
    #expect(runs.waitForValue(5))
  }

  @Test func `needs one resume for each suspend`() {
    let queue = DispatchQueue(label: "suspended.nested")
    let runs = Counter()
    for _ in 0..<3 { queue.suspend() }
    queue.async { runs.add() }
    queue.resume()
    queue.resume()
    settle()
    #expect(runs.value == 0)
    queue.resume()
    #expect(runs.waitForValue(1))
  }

  @Test func `nests a thousand deep`() {
    let queue = DispatchQueue(label: "suspended.deep")
    let done = Latch()
    for _ in 0..<1000 { queue.suspend() }
    queue.async { done.open() }
    for _ in 0..<999 { queue.resume() }
    settle()
    #expect(!done.isOpen)
    queue.resume()
    #expect(done.wait())
  }

  @Test func `runs nothing after the item that suspends it`() {
    let queue = DispatchQueue(label: "suspended.by.item")
    let order = Log<Int>()
    let suspended = Latch()
    queue.async { order.append(1) }
    queue.async {
      queue.suspend()
      order.append(2)
      suspended.open()
    }
    queue.async { order.append(3) }
    #expect(suspended.wait())
    settle()
    #expect(order.all == [1, 2])
    queue.resume()
    #expect(order.waitForCount(3))
    #expect(order.all == [1, 2, 3])
  }

  @Test func `lets the running item finish`() {
    let queue = DispatchQueue(label: "suspended.running")
    let started = Latch()
    let gate = Latch()
    let order = Log<Int>()
    queue.async {
      started.open()
      _ = gate.wait()
      order.append(1)
    }
    queue.async { order.append(2) }
    #expect(started.wait())
    queue.suspend()
    gate.open()
    #expect(order.waitForCount(1))
    settle()
    #expect(order.all == [1])
    queue.resume()
    #expect(order.waitForCount(2))
  }

  @Test func `holds back sync until resumed`() {
    let queue = DispatchQueue(label: "suspended.sync")
    let order = Log<String>()
    let about = Latch()
    queue.suspend()
    let thread = TestThread {
      about.open()
      queue.sync { order.append("sync") }
    }
    #expect(about.wait())
    settle()
    order.append("resume")
    queue.resume()
    #expect(thread.join())
    #expect(order.all == ["resume", "sync"])
  }

  @Test func `holds back barriers and reads of a concurrent queue`() {
    let queue = DispatchQueue(label: "suspended.barrier", attributes: .concurrent)
    let order = Log<String>()
    queue.suspend()
    queue.async(flags: .barrier) { order.append("barrier") }
    queue.async { order.append("read") }
    settle()
    #expect(order.count == 0)
    queue.resume()
    #expect(order.waitForCount(2))
    #expect(order.all == ["barrier", "read"])
  }

  @Test func `keeps its work in order over many suspensions`() {
    let queue = DispatchQueue(label: "suspended.order")
    let order = Unguarded<[Int]>([])
    let done = Latch()
    let stop = Box(false)
    let shaker = TestThread("shaker") {
      while !stop.value {
        queue.suspend()
        queue.resume()
      }
    }
    for number in 0..<5000 { queue.async { order.value.append(number) } }
    queue.async { done.open() }
    #expect(done.wait())
    stop.value = true
    #expect(shaker.join())
    #expect(order.value == Array(0..<5000))
  }

  @Test func `holds back the queues that target it`() {
    let target = DispatchQueue(label: "suspended.target")
    let child = DispatchQueue(label: "suspended.child", target: target)
    let runs = Counter()
    target.suspend()
    child.async { runs.add() }
    settle()
    #expect(runs.value == 0)
    target.resume()
    #expect(runs.waitForValue(1))
  }

  @Test func `does not hold back its target or siblings`() {
    let target = DispatchQueue(label: "suspended.base")
    let child = DispatchQueue(label: "suspended.held", target: target)
    let sibling = DispatchQueue(label: "suspended.free", target: target)
    let runs = Log<String>()
    child.suspend()
    child.async { runs.append("child") }
    sibling.async { runs.append("sibling") }
    target.async { runs.append("target") }
    #expect(runs.waitForCount(2))
    settle()
    #expect(Set(runs.all) == ["sibling", "target"])
    child.resume()
    #expect(runs.waitForCount(3))
  }

  @Test func `has no effect on a global queue`() {
    let queue = DispatchQueue.global(qos: .utility)
    let done = Latch()
    queue.suspend()
    queue.async { done.open() }
    #expect(done.wait())
    queue.resume()
  }
}

@Suite("An initially inactive queue") struct ActivationTests {
  @Test(arguments: QueueKind.allCases)
  func `runs nothing before activate`(_ kind: QueueKind) {
    let queue = DispatchQueue(
      label: "inactive.nothing", attributes: kind.attributes.union(.initiallyInactive))
    let runs = Counter()
    for _ in 0..<3 { queue.async { runs.add() } }
    settle()
    #expect(runs.value == 0)
    queue.activate()
    #expect(runs.waitForValue(3))
  }

  @Test func `may be activated again and again`() {
    let queue = DispatchQueue(label: "inactive.idempotent", attributes: .initiallyInactive)
    for _ in 0..<3 { queue.activate() }
    #expect(queue.sync { true })
    queue.activate()
    #expect(queue.sync { true })
  }

  @Test func `keeps the order of what was queued before`() {
    let queue = DispatchQueue(label: "inactive.order", attributes: .initiallyInactive)
    let order = Unguarded<[Int]>([])
    for number in 0..<100 { queue.async { order.value.append(number) } }
    queue.activate()
    for number in 100..<200 { queue.async { order.value.append(number) } }
    queue.sync {}
    #expect(order.value == Array(0..<200))
  }

  @Test func `stays suspended when it was suspended too`() {
    let queue = DispatchQueue(label: "inactive.suspended", attributes: .initiallyInactive)
    let runs = Counter()
    queue.suspend()
    queue.async { runs.add() }
    queue.activate()
    settle()
    #expect(runs.value == 0)
    queue.resume()
    #expect(runs.waitForValue(1))
  }

  @Test func `can be retargeted before activate`() {
    let target = DispatchQueue(label: "inactive.target")
    let key = DispatchSpecificKey<String>()
    target.setSpecific(key: key, value: "target")
    let queue = DispatchQueue(label: "inactive.retarget", attributes: .initiallyInactive)
    queue.setTarget(queue: target)
    queue.activate()
    #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == "target")
  }

  @Test func `activate does nothing to an active queue`() {
    let queue = DispatchQueue(label: "active")
    queue.activate()
    #expect(queue.sync { true })
    DispatchQueue.global().activate()
  }
}
