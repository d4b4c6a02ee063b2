// What macOS has and the toolchain lacks on Linux: contract row Q24.
import GrandCentral
import TestSupport
import Testing

/// Declarations that macOS has and the toolchain's Dispatch for Linux lacks.
@Suite("DispatchSerialQueue") struct DarwinSerialQueueTests {
  @Test func `is a serial queue`() {
    let queue = DispatchSerialQueue(label: "darwin.serial")
    let base: DispatchQueue = queue
    #expect(base.label == "darwin.serial")
    let count = Unguarded(0)
    #expect(onThreads(4) { _ in for _ in 0..<500 { queue.async { count.value += 1 } } })
    #expect(queue.sync { count.value } == 2000)
  }

  @Test func `takes the same arguments as on macOS`() {
    let target = DispatchSerialQueue(label: "darwin.target")
    let queue = DispatchSerialQueue(
      label: "darwin.full", qos: .utility, attributes: .initiallyInactive,
      autoreleaseFrequency: .workItem, target: target)
    let done = Latch()
    queue.async {
      dispatchPrecondition(condition: .onQueue(target))
      done.open()
    }
    settle()
    #expect(!done.isOpen)
    queue.activate()
    #expect(done.wait())
    #expect(queue.qos == .utility)
  }
}

@Suite("DispatchConcurrentQueue") struct DarwinConcurrentQueueTests {
  @Test func `is a concurrent queue`() {
    let queue = DispatchConcurrentQueue(label: "darwin.concurrent")
    let base: DispatchQueue = queue
    #expect(base.label == "darwin.concurrent")
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

  @Test func `takes the same arguments as on macOS`() {
    let queue = DispatchConcurrentQueue(
      label: "darwin.full", qos: .userInitiated, attributes: .initiallyInactive,
      autoreleaseFrequency: .inherit, target: .global())
    let done = Latch()
    queue.async(flags: .barrier) { done.open() }
    settle()
    #expect(!done.isOpen)
    queue.activate()
    #expect(done.wait())
  }
}

@Suite("asyncAndWait") struct AsyncAndWaitTests {
  private struct Refusal: Error, Equatable {}

  @Test func `returns the closure's value and rethrows its error`() {
    let queue = DispatchQueue(label: "darwin.wait.value")
    #expect(queue.asyncAndWait { 5 } == 5)
    #expect(queue.asyncAndWait(flags: .barrier) { "text" } == "text")
    #expect(throws: Refusal()) { try queue.asyncAndWait { throw Refusal() } }
    #expect(queue.asyncAndWait { true })
  }

  @Test func `comes after what is queued`() {
    let queue = DispatchQueue(label: "darwin.wait.order")
    let order = Unguarded<[Int]>([])
    for number in 0..<100 { queue.async { order.value.append(number) } }
    queue.asyncAndWait { order.value.append(100) }
    #expect(order.value == Array(0...100))
  }

  @Test func `runs a work item and waits for it`() {
    let queue = DispatchQueue(label: "darwin.wait.item", attributes: .concurrent)
    let runs = Counter()
    queue.asyncAndWait(execute: DispatchWorkItem(flags: .barrier) { runs.add() })
    #expect(runs.value == 1)
    let cancelled = DispatchWorkItem { runs.add() }
    cancelled.cancel()
    queue.asyncAndWait(execute: cancelled)
    #expect(runs.value == 1)
  }

  @Test func `excludes other work of the queue`() {
    let queue = DispatchQueue(label: "darwin.wait.exclusion")
    let count = Unguarded(0)
    #expect(
      onThreads(4) { number in
        for _ in 0..<1000 {
          if number % 2 == 0 {
            queue.asyncAndWait { count.value += 1 }
          } else {
            queue.async { count.value += 1 }
          }
        }
      })
    #expect(queue.sync { count.value } == 4000)
  }

  @Test func `works through a hierarchy, idle and busy`() {
    let target = DispatchQueue(label: "darwin.wait.target")
    let queue = DispatchQueue(label: "darwin.wait.child", attributes: .concurrent, target: target)
    @Sendable func placeOfWork() -> Int {
      queue.asyncAndWait {
        dispatchPrecondition(condition: .onQueue(queue))
        dispatchPrecondition(condition: .onQueue(target))
        return threadID()
      }
    }
    #expect(placeOfWork() == threadID())
    let (begun, mayEnd) = (Latch(), Latch())
    target.async {
      begun.open()
      _ = mayEnd.wait()
    }
    #expect(begun.wait())
    let found = Box(0)
    let waiter = TestThread("waiter") { found.value = placeOfWork() }
    #expect(eventually { processThreads().contains { $0.name == "waiter" && $0.isAsleep } })
    #expect(found.value == 0)
    mayEnd.open()
    #expect(waiter.join())
    #expect(found.value != 0)
  }
}

@Suite("A group in a bad state") struct GroupReleaseTests {
  @Test func `may be released while members are outstanding`() {
    let notified = Latch()
    // SAFETY: the group retains itself while a notification is registered.
    let released: Unmanaged<DispatchGroup>
    do {
      let group = DispatchGroup()
      group.enter()
      group.notify(queue: .global()) { notified.open() }
      released = .passUnretained(group)
    }
    settle()
    #expect(!notified.isOpen)
    released.takeUnretainedValue().leave()
    #expect(notified.wait())
  }
}

private func made<Queue: DispatchQueue>(
  _ type: Queue.Type, _ attributes: DispatchQueue.Attributes = []
) -> Queue { Queue(label: "darwin.generic", attributes: attributes) }

@Suite("A generic function that makes queues") struct GenericMakingTests {
  @Test func `makes the classes that DispatchQueue's initialiser makes`() {
    #expect(made(DispatchQueue.self) is DispatchSerialQueue)
    #expect(made(DispatchQueue.self, .concurrent) is DispatchConcurrentQueue)
    #expect(made(DispatchSerialQueue.self).sync { 1 } == 1)
    #expect(made(DispatchConcurrentQueue.self, .concurrent).sync { 1 } == 1)
    // The class of the value does not count, only that of the call.
    let type: DispatchQueue.Type = DispatchWorkloop.self
    #expect(type.init(label: "darwin.type") is DispatchSerialQueue)
  }

  @Test func `stops where it would make another class, and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = made(DispatchWorkloop.self)
    }
    let said = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(said.contains("cannot make a DispatchWorkloop. Call the initialiser"), "said: \(said)")
  }
}
