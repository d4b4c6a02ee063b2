// Synchronous calls: contract rows Q4 and Q5.
import GrandCentral
import TestSupport
import Testing

@Suite("sync") struct SyncTests {
  private struct Refusal: Error, Equatable { let reason: String }

  @Test func `is a value without errors, as Dispatch's is`() {
    let queue = DispatchQueue(label: "sync.value")
    let run: (() -> Void) -> Void = queue.sync(execute:)
    var count = 0
    run {
      dispatchPrecondition(condition: .onQueue(queue))
      count += 1
    }
    #expect(count == 1)
  }

  @Test func `returns the closure's value`() {
    let queue = DispatchQueue(label: "sync.value")
    #expect(queue.sync { 42 } == 42)
    #expect(queue.sync { "text" } == "text")
    let pair: (Int, String) = queue.sync { (1, "one") }
    #expect(pair.0 == 1 && pair.1 == "one")
    #expect(queue.sync { Array(repeating: 7, count: 1000) }.count == 1000)
  }

  @Test func `returns an optional nil as a value`() {
    let queue = DispatchQueue(label: "sync.nil")
    let value: Int? = queue.sync { nil }
    #expect(value == nil)
  }

  @Test func `rethrows the closure's error`() {
    let queue = DispatchQueue(label: "sync.throws")
    #expect(throws: Refusal(reason: "full")) {
      try queue.sync { throw Refusal(reason: "full") }
    }
    #expect(throws: Refusal(reason: "flags")) {
      try queue.sync(flags: .barrier) { throw Refusal(reason: "flags") }
    }
    // The queue is free after an error.
    #expect(queue.sync { true })
  }

  @Test func `runs on the caller's thread`() {
    let serial = DispatchQueue(label: "sync.thread.serial")
    let concurrent = DispatchQueue(label: "sync.thread.concurrent", attributes: .concurrent)
    let caller = threadID()
    #expect(serial.sync { threadID() } == caller)
    #expect(concurrent.sync { threadID() } == caller)
    #expect(concurrent.sync(flags: .barrier) { threadID() } == caller)
    #expect(DispatchQueue.global().sync { threadID() } == caller)
  }

  @Test func `accepts values that are not Sendable`() {
    final class Plain { var number = 0 }
    let queue = DispatchQueue(label: "sync.plain")
    let object = Plain()
    let same = queue.sync { () -> Plain in
      object.number += 1
      return object
    }
    #expect(same === object && object.number == 1)
  }

  @Test func `comes after everything already queued`() {
    let queue = DispatchQueue(label: "sync.after")
    let order = Unguarded<[Int]>([])
    for number in 0..<1000 { queue.async { order.value.append(number) } }
    queue.sync { order.value.append(1000) }
    #expect(order.value == Array(0...1000))
  }

  @Test func `waits for the item that runs`() {
    let queue = DispatchQueue(label: "sync.waits")
    let started = Latch()
    let gate = Latch()
    let order = Log<String>()
    queue.async {
      started.open()
      _ = gate.wait()
      order.append("item")
    }
    #expect(started.wait())
    let thread = TestThread { queue.sync { order.append("sync") } }
    gate.open()
    #expect(thread.join())
    #expect(order.all == ["item", "sync"])
  }

  @Test func `nests through different queues`() {
    let queues = (0..<20).map { DispatchQueue(label: "sync.nest.\($0)") }
    func descend(_ depth: Int) -> Int {
      depth == queues.count ? 0 : queues[depth].sync { 1 + descend(depth + 1) }
    }
    #expect(descend(0) == 20)
  }

  @Test func `runs inside an item of another queue`() {
    let outer = DispatchQueue(label: "sync.outer")
    let inner = DispatchQueue(label: "sync.inner")
    let result = Box(0)
    let done = Latch()
    outer.async {
      result.value = inner.sync { 5 }
      done.open()
    }
    #expect(done.wait())
    #expect(result.value == 5)
  }

  @Test func `runs one at a time under contention`() {
    let queue = DispatchQueue(label: "sync.contended")
    let count = Unguarded(0)
    #expect(onThreads(4) { _ in for _ in 0..<5000 { queue.sync { count.value += 1 } } })
    #expect(queue.sync { count.value } == 20_000)
  }

  @Test func `excludes async items under contention`() {
    let queue = DispatchQueue(label: "sync.mixed")
    let count = Unguarded(0)
    #expect(
      onThreads(4) { thread in
        for _ in 0..<2000 {
          if thread % 2 == 0 {
            queue.sync { count.value += 1 }
          } else {
            queue.async { count.value += 1 }
          }
        }
      })
    #expect(queue.sync { count.value } == 8000)
  }

  @Test func `keeps one thread's async before its sync`() {
    let queue = DispatchQueue(label: "sync.fifo")
    let wrong = Counter()
    #expect(
      onThreads(3) { _ in
        let mine = Unguarded(0)
        for round in 1...1000 {
          queue.async { mine.value = round }
          if queue.sync(execute: { mine.value }) != round { wrong.add() }
        }
      })
    #expect(wrong.value == 0)
  }

  @Test func `runs a work item and waits for it`() {
    let queue = DispatchQueue(label: "sync.item")
    let ran = Unguarded(0)
    let item = DispatchWorkItem { ran.value += 1 }
    queue.sync(execute: item)
    #expect(ran.value == 1)
    queue.sync(execute: item)
    #expect(ran.value == 2)
  }

  @Test func `skips a cancelled work item`() {
    let queue = DispatchQueue(label: "sync.cancelled")
    let ran = Unguarded(0)
    let item = DispatchWorkItem { ran.value += 1 }
    item.cancel()
    queue.sync(execute: item)
    #expect(ran.value == 0)
  }

  @Test func `on a concurrent queue runs concurrently with other items`() {
    let queue = DispatchQueue(label: "sync.concurrent", attributes: .concurrent)
    let started = Latch()
    let gate = Latch()
    let done = Latch()
    queue.async {
      started.open()
      _ = gate.wait()
      done.open()
    }
    #expect(started.wait())
    // The call would never return if it waited for the item.
    queue.sync { gate.open() }
    #expect(done.wait())
  }

  @Test func `may be called on the same concurrent queue again`() {
    let queue = DispatchQueue(label: "sync.reentrant", attributes: .concurrent)
    #expect(queue.sync { queue.sync { 3 } } == 3)
  }
}
