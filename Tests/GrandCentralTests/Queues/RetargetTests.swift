// Targets that change: contract row Q15.
import GrandCentral
import TestSupport
import Testing

/// The peer's Swift queues trap when an active queue is retargeted; these queues do not.
@Suite("Retargeting an active queue") struct RetargetTests {
  private let key = DispatchSpecificKey<String>()

  private func target(_ name: String) -> DispatchQueue {
    let queue = DispatchQueue(label: "retarget.\(name)")
    queue.setSpecific(key: key, value: name)
    return queue
  }

  @Test(arguments: QueueKind.allCases)
  func `moves later work to the new target`(_ kind: QueueKind) {
    let first = target("first")
    let second = target("second")
    let queue = DispatchQueue(label: "retarget.moved", attributes: kind.attributes, target: first)
    #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == "first")
    queue.setTarget(queue: second)
    queue.sync(flags: .barrier) {}
    #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == "second")
  }

  @Test(arguments: QueueKind.allCases)
  func `runs work submitted before under the old target`(_ kind: QueueKind) {
    let first = target("first")
    let second = target("second")
    let queue = DispatchQueue(label: "retarget.before", attributes: kind.attributes, target: first)
    let seen = Log<String>()
    first.suspend()
    for _ in 0..<5 { queue.async { seen.append(DispatchQueue.getSpecific(key: key) ?? "none") } }
    queue.setTarget(queue: second)
    for _ in 0..<5 { queue.async { seen.append(DispatchQueue.getSpecific(key: key) ?? "none") } }
    settle()
    #expect(seen.count == 0)
    first.resume()
    #expect(seen.waitForCount(10))
    #expect(seen.all == Array(repeating: "first", count: 5) + Array(repeating: "second", count: 5))
  }

  @Test func `takes effect from inside an item after that item`() {
    let first = target("first")
    let second = target("second")
    let queue = DispatchQueue(label: "retarget.inside", target: first)
    let seen = Log<String>()
    queue.async {
      queue.setTarget(queue: second)
      seen.append(DispatchQueue.getSpecific(key: key) ?? "none")
      queue.async { seen.append(DispatchQueue.getSpecific(key: key) ?? "none") }
    }
    #expect(seen.waitForCount(2))
    #expect(seen.all == ["first", "second"])
  }

  @Test func `keeps order and exclusion with work in flight`() {
    let targets = [target("a"), target("b")]
    let queue = DispatchQueue(label: "retarget.flight", target: targets[0])
    let order = Unguarded<[Int]>([])
    for number in 0..<2000 {
      queue.async { order.value.append(number) }
      if number % 10 == 0 { queue.setTarget(queue: targets[number / 10 % 2]) }
    }
    queue.sync {}
    #expect(order.value == Array(0..<2000))
  }

  @Test func `excludes against the new target's own work`() {
    let first = target("first")
    let second = target("second")
    let queue = DispatchQueue(label: "retarget.exclusion", target: first)
    queue.setTarget(queue: second)
    queue.sync {}
    let count = Unguarded(0)
    #expect(
      onThreads(2) { number in
        for _ in 0..<2000 { (number == 0 ? queue : second).sync { count.value += 1 } }
      })
    #expect(second.sync { count.value } == 4000)
  }

  @Test func `back to the default target frees it from the old one`() {
    let old = target("old")
    let queue = DispatchQueue(label: "retarget.default", target: old)
    queue.setTarget(queue: DispatchQueue.global())
    queue.sync {}
    old.suspend()
    #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == nil)
    old.resume()
  }

  @Test func `releases the old target`() {
    let gone = Latch()
    let witnessKey = DispatchSpecificKey<Witness>()
    let queue = DispatchQueue(label: "retarget.release")
    do {
      let old = DispatchQueue(label: "retarget.old")
      old.setSpecific(key: witnessKey, value: Witness { gone.open() })
      queue.setTarget(queue: old)
    }
    #expect(queue.sync { true })
    #expect(!gone.isOpen)
    queue.setTarget(queue: DispatchQueue.global())
    #expect(gone.wait())
  }

  @Test func `while suspended takes effect on resume`() {
    let second = target("second")
    let queue = DispatchQueue(label: "retarget.suspended")
    let seen = Log<String>()
    queue.suspend()
    queue.setTarget(queue: second)
    queue.async { seen.append(DispatchQueue.getSpecific(key: key) ?? "none") }
    queue.resume()
    #expect(seen.waitForCount(1))
    #expect(seen.all == ["second"])
  }

  @Test func `jumps the queue`() {
    // Two queues target one serial queue; the low one is held while urgent work runs.
    let target = DispatchQueue(label: "jump.target")
    let low = DispatchQueue(label: "jump.low", target: target)
    let high = DispatchQueue(label: "jump.high", target: target)
    let order = Log<String>()
    let started = Latch()
    let gate = Latch()
    low.async {
      started.open()
      _ = gate.wait()
      order.append("low 0")
    }
    for number in 1...3 { low.async { order.append("low \(number)") } }
    #expect(started.wait())
    low.suspend()
    high.async {
      order.append("high")
      low.resume()
    }
    gate.open()
    #expect(order.waitForCount(5))
    #expect(order.all == ["low 0", "high", "low 1", "low 2", "low 3"])
  }
}
