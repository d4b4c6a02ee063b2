// Mistakes with groups, semaphores and work items: contract rows G1 and G2.
import GrandCentral
import TestSupport
import Testing

@Suite("A group's, semaphore's or work item's misuse is reported") struct CoordinationFaultTests {
  @Test func `when a group is left more often than entered`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { unbalancedLeave() }
    expectReport(result, says: ["leave()", "enter()"])
  }

  @Test func `when a group is left that was never entered`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { DispatchGroup().leave() }
    expectReport(result, says: ["leave()", "enter()"])
  }

  @Test func `when a semaphore is released in use`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { releaseSemaphoreInUse() }
    expectReport(result, says: ["semaphore", "signal"])
  }

  @Test func `when a semaphore starts below zero`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = DispatchSemaphore(value: -1) }
    expectReport(result, names: ["-1"], says: ["semaphore", "negative|zero|below|0 or more"])
  }

  @Test func `when a work item is waited for twice`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { waitTwice() }
    expectReport(result, says: ["wait", "once|twice"])
  }

  @Test func `when two threads wait for one work item`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { waitFromTwoThreads() }
    expectReport(result, says: ["wait", "once|twice"])
  }

  @Test func `when a work item runs more than once and is waited for`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { waitForOneThatRanTwice() }
    expectReport(result, says: ["wait", "once"])
  }
}

private func unbalancedLeave() {
  let group = DispatchGroup()
  group.enter()
  group.leave()
  group.leave()
}

private func releaseSemaphoreInUse() {
  let semaphore = DispatchSemaphore(value: 1)
  semaphore.wait()
}

private func waitTwice() {
  let item = DispatchWorkItem {}
  item.perform()
  item.wait()
  item.wait()
}

private func waitFromTwoThreads() {
  let item = Box(DispatchWorkItem {})
  for number in 0..<2 {
    _ = TestThread("waiter-\(number)") { _ = item.value.wait(timeout: .distantFuture) }
  }
  waitForReport()
}

private func waitForOneThatRanTwice() {
  let item = DispatchWorkItem {}
  item.perform()
  item.perform()
  item.wait()
}
