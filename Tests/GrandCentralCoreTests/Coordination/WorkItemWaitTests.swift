// Waits for a work item, with and without a timeout.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A wait for a work item that times out") struct WorkItemWaitTests {
  private static var soon: DispatchTime { .now().advanced(by: .milliseconds(1)) }

  @Test func `does not count, and the next one is answered`() {
    let queue = DispatchQueue(label: "test.vain")
    queue.suspend()
    let item = DispatchWorkItem {}
    queue.async(execute: item)
    for _ in 0..<3 { #expect(item.wait(timeout: Self.soon) == .timedOut) }
    queue.resume()
    #expect(item.wait(timeout: .distantFuture) == .success)
  }

  @Test func `is forgotten when an item is executed again and again`() {
    let item = DispatchWorkItem {}
    #expect(item.wait(timeout: Self.soon) == .timedOut)
    for _ in 0..<3 { item.perform() }
  }

  @Test func `keeps the item's queue known for the next wait that would never end`()
    async
  {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "vain.submitted")
      queue.sync {
        let item = DispatchWorkItem {}
        queue.async(execute: item)
        let first = item.wait(timeout: Self.soon)
        if first == .timedOut { item.wait() }
      }
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: Deadlock: wait()"))
    #expect(says(result, "'vain.submitted'"))
  }
}

@Suite("A thread that waits for a work item") struct WorkItemSleepTests {
  @Test(arguments: [false, true])
  func `continues when the item has run`(hasDeadline: Bool) {
    let item = DispatchWorkItem {}
    let results = Log<DispatchTimeoutResult>()
    let waiterID = Box<UInt32>(0)
    let shared = SharedBox(item)
    let waiter = TestThread("item-waiter") {
      waiterID.value = currentThread().pointee.tid
      let limit = DispatchTime.now().advanced(by: .seconds(3600))
      results.append(shared.value.wait(timeout: hasDeadline ? limit : .distantFuture))
    }
    let isAsleep = eventually {
      item.state.load(ordering: .relaxed).isSleeping
        && Process.threadState(waiterID.value) == "S"
    }
    #expect(isAsleep)
    #expect(results.count == 0)
    item.perform()
    #expect(waiter.join())
    #expect(results.all == [.success])
  }
}
