// Work items: contract row G4.
import GrandCentral
import TestSupport
import Testing

@Suite("A work item") struct WorkItemTests {
  private let queue = DispatchQueue(label: "item.queue")

  @Test func `runs when performed, on the caller's thread`() {
    let thread = Box(0)
    let item = DispatchWorkItem { thread.value = threadID() }
    item.perform()
    #expect(thread.value == threadID())
  }

  @Test func `may be performed and submitted several times`() {
    let runs = Counter()
    let item = DispatchWorkItem { runs.add() }
    item.perform()
    item.perform()
    queue.async(execute: item)
    queue.async(execute: item)
    queue.sync {}
    #expect(runs.value == 4)
  }

  @Test func `ends a wait when it has run`() {
    let ran = Unguarded(false)
    let item = DispatchWorkItem { ran.value = true }
    queue.async(execute: item)
    item.wait()
    #expect(ran.value)
  }

  @Test func `ends a wait at once when it ran before`() {
    let item = DispatchWorkItem {}
    item.perform()
    #expect(item.wait(timeout: .now()) == .success)
  }

  @Test func `ends a wait at its deadline`() {
    let item = DispatchWorkItem {}
    #expect(item.wait(timeout: .now() + .milliseconds(20)) == .timedOut)
    #expect(item.wait(wallTimeout: .now() + .milliseconds(20)) == .timedOut)
    queue.async(execute: item)
    #expect(item.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success)
  }

  @Test func `notifies on the queue when it has run`() {
    let order = Log<String>()
    let target = DispatchQueue(label: "item.notify")
    let key = DispatchSpecificKey<String>()
    target.setSpecific(key: key, value: "on target")
    let item = DispatchWorkItem { order.append("item") }
    item.notify(queue: target) { order.append(DispatchQueue.getSpecific(key: key) ?? "lost") }
    settle()
    #expect(order.count == 0)
    queue.async(execute: item)
    #expect(order.waitForCount(2))
    #expect(order.all == ["item", "on target"])
  }

  @Test func `notifies with another work item, several, and in order`() {
    let order = Log<Int>()
    let target = DispatchQueue(label: "item.several")
    let item = DispatchWorkItem {}
    item.notify(queue: target, execute: DispatchWorkItem { order.append(0) })
    item.notify(queue: target) { order.append(1) }
    item.notify(qos: .utility, flags: .enforceQoS, queue: target) { order.append(2) }
    queue.async(execute: item)
    #expect(order.waitForCount(3))
    #expect(order.all == [0, 1, 2])
  }

  @Test func `notifies at once when it ran before`() {
    let done = Latch()
    let item = DispatchWorkItem {}
    item.perform()
    item.notify(queue: .global()) { done.open() }
    #expect(done.wait())
  }

  @Test func `does not run when cancelled before it starts`() {
    let runs = Counter()
    let gate = Latch()
    let item = DispatchWorkItem { runs.add() }
    queue.async { _ = gate.wait() }
    queue.async(execute: item)
    #expect(!item.isCancelled)
    item.cancel()
    #expect(item.isCancelled)
    gate.open()
    queue.sync {}
    #expect(runs.value == 0)
    item.perform()
    #expect(runs.value == 0)
  }

  @Test func `that was cancelled still counts as done for waiters and notifications`() {
    let done = Latch()
    let item = DispatchWorkItem {}
    item.cancel()
    item.notify(queue: .global()) { done.open() }
    queue.async(execute: item)
    #expect(item.wait(timeout: .now() + .seconds(deadlineSeconds)) == .success)
    #expect(done.wait())
  }

  @Test func `runs to its end when cancelled meanwhile, and sees it`() {
    let started = Latch()
    let gate = Latch()
    let seen = Box<Bool?>(nil)
    let holder = Box<DispatchWorkItem?>(nil)
    let item = DispatchWorkItem {
      started.open()
      _ = gate.wait()
      seen.value = holder.value?.isCancelled
    }
    holder.value = item
    queue.async(execute: item)
    #expect(started.wait())
    item.cancel()
    gate.open()
    queue.sync {}
    #expect(seen.value == true)
    holder.value = nil
  }

  @Test func `in a group counts as a member, cancelled or not`() {
    let group = DispatchGroup()
    let runs = Counter()
    let cancelled = DispatchWorkItem { runs.add() }
    cancelled.cancel()
    queue.async(group: group, execute: cancelled)
    queue.async(group: group, execute: DispatchWorkItem { runs.add() })
    group.wait()
    #expect(runs.value == 1)
  }

  @Test func `as a barrier excludes other work`() {
    let concurrent = DispatchQueue(label: "item.concurrent", attributes: .concurrent)
    let gate = Latch()
    let order = Log<String>()
    concurrent.async {
      _ = gate.wait()
      order.append("before")
    }
    concurrent.async(execute: DispatchWorkItem(flags: .barrier) { order.append("barrier") })
    concurrent.async { order.append("after") }
    gate.open()
    #expect(order.waitForCount(3))
    #expect(order.all == ["before", "barrier", "after"])
  }

  @Test func `accepts every flag and quality of service`() {
    let flags: [DispatchWorkItemFlags] = [
      [], .barrier, .detached, .assignCurrentContext, .noQoS, .inheritQoS, .enforceQoS,
      [.enforceQoS, .barrier],
    ]
    let done = Latch(flags.count * 2)
    for flag in flags {
      queue.async(execute: DispatchWorkItem(qos: .userInitiated, flags: flag) { done.open() })
      queue.async(qos: .background, flags: flag) { done.open() }
    }
    #expect(done.wait())
  }

  @Test func `is waited for by another thread while it runs`() {
    let started = Latch()
    let gate = Latch()
    let item = Box(
      DispatchWorkItem {
        started.open()
        _ = gate.wait()
      })
    queue.async(execute: item.value)
    #expect(started.wait())
    let about = Latch()
    let waiter = TestThread("waiter") {
      about.open()
      item.value.wait()
    }
    #expect(about.wait())
    gate.open()
    #expect(waiter.join())
  }

  @Test func `releases its captures with its last reference`() {
    let gone = Latch()
    do {
      let witness = Witness { gone.open() }
      let item = DispatchWorkItem { _ = witness }
      queue.async(execute: item)
      item.wait()
      #expect(!gone.isOpen)
    }
    queue.sync {}
    #expect(gone.wait())
  }

  @Test func `flags combine as a set`() {
    let flags: DispatchWorkItemFlags = [.barrier, .noQoS]
    #expect(flags.contains(.barrier) && !flags.contains(.detached))
    #expect(DispatchWorkItemFlags(rawValue: flags.rawValue) == flags)
    let all: [DispatchWorkItemFlags] = [
      .barrier, .detached, .assignCurrentContext, .noQoS, .inheritQoS, .enforceQoS,
    ]
    #expect(Set(all.map(\.rawValue)).count == all.count)
  }
}
