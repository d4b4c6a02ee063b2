// Groups: contract row G1.
import GrandCentral
import TestSupport
import Testing

@Suite("A group") struct GroupTests {
  private let queue = DispatchQueue(label: "group.queue", attributes: .concurrent)

  @Test func `waits for its items`() {
    let group = DispatchGroup()
    let runs = Counter()
    for _ in 0..<100 { queue.async(group: group) { runs.add() } }
    group.wait()
    #expect(runs.value == 100)
  }

  @Test func `waits for work items and their flags`() {
    let group = DispatchGroup()
    let runs = Counter()
    queue.async(group: group, execute: DispatchWorkItem { runs.add() })
    queue.async(group: group, execute: DispatchWorkItem(flags: .barrier) { runs.add() })
    queue.async(group: group, qos: .utility, flags: [.barrier, .enforceQoS]) { runs.add() }
    group.wait()
    #expect(runs.value == 3)
  }

  @Test func `counts enter and leave`() {
    let group = DispatchGroup()
    for _ in 0..<3 { group.enter() }
    #expect(group.wait(timeout: .now()) == .timedOut)
    group.leave()
    group.leave()
    #expect(group.wait(timeout: .now()) == .timedOut)
    group.leave()
    #expect(group.wait(timeout: .now()) == .success)
  }

  @Test func `that is empty ends a wait at once`() {
    let group = DispatchGroup()
    group.wait()
    #expect(group.wait(timeout: .now()) == .success)
    #expect(group.wait(timeout: .distantFuture) == .success)
    #expect(group.wait(wallTimeout: .now()) == .success)
    #expect(group.wait(wallTimeout: .distantFuture) == .success)
  }

  @Test func `ends a wait at its deadline`() {
    let group = DispatchGroup()
    group.enter()
    let start = monotonicSeconds()
    #expect(group.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
    #expect(monotonicSeconds() - start >= 0.05)
    let wallStart = monotonicSeconds()
    #expect(group.wait(wallTimeout: .now() + .milliseconds(50)) == .timedOut)
    #expect(monotonicSeconds() - wallStart >= 0.04)
    group.leave()
    #expect(group.wait(timeout: .now()) == .success)
  }

  @Test func `wakes every waiter`() {
    let group = DispatchGroup()
    group.enter()
    let about = Latch(4)
    let threads = (0..<4).map { _ in
      TestThread("waiter") {
        about.open()
        group.wait()
      }
    }
    #expect(about.wait())
    settle()
    group.leave()
    for thread in threads { #expect(thread.join()) }
  }

  @Test func `notifies on the queue when the last member left`() {
    let group = DispatchGroup()
    let target = DispatchQueue(label: "group.notify")
    let key = DispatchSpecificKey<Int>()
    target.setSpecific(key: key, value: 9)
    let seen = Log<Int?>()
    group.enter()
    group.notify(queue: target) { seen.append(DispatchQueue.getSpecific(key: key)) }
    settle()
    #expect(seen.count == 0)
    group.leave()
    #expect(seen.waitForCount(1))
    #expect(seen.all == [9])
  }

  @Test func `notifies when all items have run`() {
    let group = DispatchGroup()
    let runs = Counter()
    let seen = Log<Int>()
    for _ in 0..<100 { queue.async(group: group) { runs.add() } }
    group.notify(queue: .global()) { seen.append(runs.value) }
    #expect(seen.waitForCount(1))
    #expect(seen.all == [100])
  }

  @Test func `that is empty notifies at once`() {
    let done = Latch(2)
    DispatchGroup().notify(queue: .global()) { done.open() }
    DispatchGroup().notify(queue: .global(), work: DispatchWorkItem { done.open() })
    #expect(done.wait())
  }

  @Test func `notifies several times in order`() {
    let group = DispatchGroup()
    let target = DispatchQueue(label: "group.several")
    let order = Log<Int>()
    group.enter()
    for number in 0..<10 {
      if number % 2 == 0 {
        group.notify(queue: target) { order.append(number) }
      } else {
        group.notify(queue: target, work: DispatchWorkItem { order.append(number) })
      }
    }
    group.leave()
    #expect(order.waitForCount(10))
    #expect(order.all == Array(0..<10))
  }

  @Test func `notifies on a suspended queue once that is resumed`() {
    let group = DispatchGroup()
    let target = DispatchQueue(label: "group.suspended")
    let done = Latch()
    target.suspend()
    group.notify(queue: target) { done.open() }
    settle()
    #expect(!done.isOpen)
    target.resume()
    #expect(done.wait())
  }

  @Test func `can be used again and again`() {
    let group = DispatchGroup()
    for round in 1...200 {
      let runs = Counter()
      for _ in 0..<5 { queue.async(group: group) { runs.add() } }
      if round % 2 == 0 {
        group.wait()
      } else {
        let done = Latch()
        group.notify(queue: .global()) { done.open() }
        #expect(done.wait())
      }
      #expect(runs.value == 5)
    }
  }

  @Test func `takes new members from its own items`() {
    let group = DispatchGroup()
    let runs = Counter()
    @Sendable func grow(_ depth: Int) {
      runs.add()
      if depth == 0 { return }
      for _ in 0..<2 { queue.async(group: group) { grow(depth - 1) } }
    }
    queue.async(group: group) { grow(7) }
    group.wait()
    #expect(runs.value == 255)
  }

  @Test func `may be left from another queue`() {
    let group = DispatchGroup()
    let other = DispatchQueue(label: "group.other")
    let runs = Counter()
    for _ in 0..<10 {
      group.enter()
      queue.async {
        other.async {
          runs.add()
          group.leave()
        }
      }
    }
    group.wait()
    #expect(runs.value == 10)
  }

  @Test func `may be released while its items are pending`() {
    let done = Latch(11)
    let gate = Latch()
    do {
      let group = DispatchGroup()
      for _ in 0..<10 {
        queue.async(group: group) {
          _ = gate.wait()
          done.open()
        }
      }
      group.notify(queue: .global()) { done.open() }
    }
    gate.open()
    #expect(done.wait())
  }

  @Test func `releases notifications once they have run`() {
    let gone = Latch()
    let group = DispatchGroup()
    do {
      let witness = Witness { gone.open() }
      group.notify(queue: .global()) { _ = witness }
    }
    #expect(gone.wait())
  }

  @Test func `balances under enter and leave from many threads`() {
    let group = DispatchGroup()
    let notified = Latch(4 * 200)
    #expect(
      onThreads(4) { _ in
        for _ in 0..<200 {
          group.enter()
          group.notify(queue: .global()) { notified.open() }
          group.leave()
        }
      })
    group.wait()
    #expect(notified.wait())
  }
}
