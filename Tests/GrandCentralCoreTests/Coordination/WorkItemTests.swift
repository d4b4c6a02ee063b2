import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A work item's state word") struct WorkItemStateTests {
  let fresh = WorkItemState(rawValue: 0)

  @Test func `is done once`() throws {
    let done = try #require(fresh.finished())
    #expect(done.isDone && !done.isAgain)
    let again = try #require(done.finished())
    #expect(again.isDone && again.isAgain)
    #expect(again.finished() == again)
  }

  @Test func `allows one wait for one execution`() throws {
    let waiting = try fresh.waiting()
    #expect(throws: WorkItemState.WaitRefusal.waitedBefore) { try waiting.waiting() }
    let done = try #require(waiting.finished())
    #expect(done.finished() == nil)
    let again = try #require(fresh.finished()?.finished())
    #expect(throws: WorkItemState.WaitRefusal.executedTwice) { try again.waiting() }
  }

  @Test func `forgets a wait that timed out`() throws {
    let asleep = try #require(try fresh.waiting().fellAsleep())
    #expect(asleep.isSleeping)
    #expect(asleep.gaveUp() == fresh)
    let done = try #require(asleep.finished())
    #expect(done.gaveUp() == nil)
    #expect(done.fellAsleep() == nil)
    #expect(done.observed() == nil)
    #expect(fresh.observed()?.isNotified == true)
  }

  @Test func `is not waited for and executed again`() throws {
    let words = (UInt32(0)..<64).map(WorkItemState.init(rawValue:))
    let valid = words.filter(\.isValid)
    #expect(valid.contains(fresh) && valid.count < words.count)
    for word in valid {
      let waiting = try? word.waiting()
      // The item's only waiter falls asleep.
      let asleep = word.isWaited ? word.fellAsleep() : nil
      let next = [
        word.finished(), waiting, asleep, word.gaveUp(), word.observed(), word.cancelled(),
      ]
      #expect(next.allSatisfy { $0?.isValid ?? true }, "\(word) → \(next)")
    }
    #expect(!WorkItemState(rawValue: WorkItemState.again).isValid)
    #expect(!WorkItemState(rawValue: WorkItemState.sleeping).isValid)
  }
}

@Suite("A work item") struct WorkItemTests {
  @Test func `runs when performed, as often as it is`() {
    let cell = UnsafeCell()
    let item = DispatchWorkItem { cell.value += 1 }
    item.perform()
    item.perform()
    #expect(cell.value == 2)
    #expect(!item.isCancelled)
  }

  @Test func `runs on a queue and can be waited for`() {
    let cell = UnsafeCell()
    let item = DispatchWorkItem { cell.value = 7 }
    DispatchQueue(label: "work").async(execute: item)
    item.wait()
    #expect(cell.value == 7)
  }

  @Test func `that is done makes no thread wait`() {
    let item = DispatchWorkItem {}
    item.perform()
    #expect(item.wait(timeout: .now()) == .success)
  }

  @Test func `does not count a wait that timed out`() {
    let item = DispatchWorkItem {}
    #expect(item.wait(timeout: .now()) == .timedOut)
    let deadline = DispatchTime.now() + .milliseconds(10)
    #expect(item.wait(timeout: deadline) == .timedOut)
    #expect(DispatchTime.now() >= deadline)
    #expect(item.wait(wallTimeout: .now() + .milliseconds(1)) == .timedOut)
    item.perform()
    item.wait()
  }

  @Test func `that is cancelled ends without running`() {
    let cell = UnsafeCell()
    let notified = Latch()
    let item = DispatchWorkItem { cell.value = 1 }
    let queue = DispatchQueue(label: "work")
    item.notify(queue: queue) { notified.open() }
    item.cancel()
    #expect(item.isCancelled)
    #expect(item.wait(timeout: .now()) == .timedOut)
    queue.async(execute: item)
    item.wait()
    #expect(notified.wait())
    #expect(cell.value == 0)
  }

  @Test func `runs to its end if it is cancelled meanwhile`() {
    let began = DispatchSemaphore(value: 0)
    let mayContinue = DispatchSemaphore(value: 0)
    let cell = UnsafeCell()
    let item = DispatchWorkItem {
      began.signal()
      mayContinue.wait()
      cell.value = 1
    }
    DispatchQueue(label: "work").async(execute: item)
    began.wait()
    item.cancel()
    mayContinue.signal()
    item.wait()
    #expect(cell.value == 1)
  }

  @Test func `notifies in order when it is done, and at once afterwards`() {
    let queue = DispatchQueue(label: "notified")
    let order = Log<Int>()
    let notified = Latch()
    let item = DispatchWorkItem { order.append(0) }
    item.notify(queue: queue) { order.append(1) }
    item.notify(queue: queue, execute: DispatchWorkItem { order.append(2) })
    item.perform()
    item.notify(queue: queue) { order.append(3) }
    item.notify(queue: queue) { notified.open() }
    #expect(notified.wait())
    #expect(order.all == [0, 1, 2, 3])
  }

  @Test func `notifies once however often it runs`() {
    let queue = DispatchQueue(label: "notified")
    let order = Log<Int>()
    let notified = Latch()
    let item = DispatchWorkItem {}
    item.notify(queue: queue) { order.append(1) }
    item.perform()
    item.perform()
    queue.async { notified.open() }
    #expect(notified.wait())
    #expect(order.all == [1])
  }

  @Test func `keeps nothing alive when it is done or released`() {
    weak var weakItem: DispatchWorkItem?
    weak var weakQueue: DispatchQueue?
    weak var weakCapture: UnsafeCell?
    do {
      let queue = DispatchQueue(label: "notified")
      let capture = UnsafeCell()
      let item = DispatchWorkItem {}
      let observer = DispatchWorkItem { _ = capture }
      item.notify(queue: queue) { _ = capture }
      item.notify(queue: queue, execute: observer)
      (weakItem, weakQueue, weakCapture) = (item, queue, capture)
    }
    #expect(weakItem == nil)
    #expect(weakCapture == nil)
    #expect(weakQueue == nil)
  }

  @Test func `is raised by its own QoS when performed, and never lowered`() {
    let thread = currentThread()
    let outer = thread.pointee.qos
    defer { thread.pointee.qos = outer }
    let seen = Log<Int>()
    func note() { seen.append(Int(PackedQoS(rawValue: currentThread().pointee.qos).band.rawValue)) }
    thread.pointee.qos = PackedQoS(.utility).rawValue
    DispatchWorkItem(qos: .userInitiated) { note() }.perform()
    DispatchWorkItem(qos: .background) { note() }.perform()
    DispatchWorkItem { note() }.perform()
    let expected: [Band] = [.userInitiated, .utility, .utility]
    #expect(seen.all == expected.map { Int($0.rawValue) })
    #expect(thread.pointee.qos == PackedQoS(.utility).rawValue)
  }

  @Test func `carries its QoS and its barrier to the queue`() {
    let thread = currentThread()
    let outer = thread.pointee.qos
    defer { thread.pointee.qos = outer }
    thread.pointee.qos = PackedQoS(.userInteractive).rawValue
    let assigned = DispatchWorkItem(flags: .assignCurrentContext) {}
    thread.pointee.qos = PackedQoS(.background).rawValue
    #expect(assigned.traits(from: thread).qos.band == .userInitiated)
    #expect(DispatchWorkItem {}.traits(from: thread).qos.band == .background)
    #expect(DispatchWorkItem(flags: .noQoS) {}.traits(from: thread).qos == .unspecified)
    let enforced = DispatchWorkItem(qos: .utility, flags: [.barrier, .enforceQoS]) {}
    #expect(enforced.traits(from: thread).qos == PackedQoS(.utility, enforced: true))
    #expect(enforced.traits(from: thread).contains(.barrier))
  }

  @Test func `wakes its waiter exactly once under load`() {
    let queue = DispatchQueue(label: "work")
    let haveEnded = onThreads(3) { _ in
      for round in 0..<800 {
        let cell = UnsafeCell()
        let item = DispatchWorkItem { cell.value = round }
        queue.async(execute: item)
        if round % 2 == 0 {
          _ = item.wait(timeout: .now()) == .success ? () : item.wait()
        } else {
          item.wait()
        }
        #expect(cell.value == round)
      }
    }
    #expect(haveEnded)
  }
}

@Suite("Misuse of a work item") struct WorkItemFaultTests {
  @Test func `waiting twice stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let item = DispatchWorkItem {}
      item.perform()
      item.waitForTest()
      item.waitForTest()
    }
    #expect(says(result, "is or was waited for already"))
    #expect(says(result, "use a DispatchGroup"))
  }

  @Test func `waiting for one that ran twice stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let item = DispatchWorkItem {}
      item.perform()
      item.perform()
      item.waitForTest()
    }
    #expect(says(result, "wait() on a DispatchWorkItem that was executed more than once"))
  }

  @Test func `running one that was waited for again stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let item = DispatchWorkItem {}
      item.perform()
      item.waitForTest()
      item.perform()
    }
    #expect(says(result, "executed more than once and waited for"))
  }

  @Test func `waiting for itself stops and names the fix`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let itself = SharedSlot()
      itself.item = DispatchWorkItem { itself.item?.wait() }
      itself.item?.perform()
    }
    #expect(says(result, "Deadlock: a DispatchWorkItem waits for itself"))
  }

  @Test func `waiting on the queue that should run it stops and names the queue`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = DispatchQueue(label: "com.example.only")
      let done = DispatchSemaphore(value: 0)
      queue.async {
        let item = DispatchWorkItem {}
        queue.async(execute: item)
        item.wait()
      }
      done.waitForTest()
    }
    #expect(says(result, "submitted to queue 'com.example.only'"))
  }
}

final class SharedSlot: @unchecked Sendable {
  var item: DispatchWorkItem?
}

// The bodies of exit tests are asynchronous. These tests block in them on purpose.
extension DispatchWorkItem {
  func waitForTest() { wait() }
}

extension DispatchSemaphore {
  func waitForTest() { wait() }
}
