// The kinds of queues that the board shows: contract row X2.
import Glibc
import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The board") struct BoardKindTests {
  @Test func `has room for the threads of a program that only uses semaphores`() async {
    await #expect(processExitsWith: .success) {
      // Each thread waits, and so has a record, until it ends.
      var lacking = 0
      for _ in 0..<BoardLayout.threadCapacity + 100 {
        let hasRecord = Number()
        let thread = TestThread("waits") {
          // A wait whose deadline passes before it begins makes no record.
          for _ in 0..<1000 where currentThread().pointee.board == nil {
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(100))
          }
          if currentThread().pointee.board != nil { hasRecord.add() }
        }
        if !thread.join() { exit(1) }
        if hasRecord.now == 0 { lacking += 1 }
      }
      exit(lacking == 0 ? 0 : 2)
    }
  }

  @Test func `shows a queue that another scheduler runs as a serial queue`() async {
    // In a process of its own, where queues of other tests do not fill the board.
    _ = await #expect(processExitsWith: .success) { try showHostedQueue() }
  }
}

private func showHostedQueue() throws {
  // The wait makes the board.
  let never = DispatchSemaphore(value: 0)
  #expect(never.wait(timeout: .now().advanced(by: .milliseconds(1))) == .timedOut)
  let queue = HostedQueue(label: "test.hosted", onAnnounce: { _ in }, excludes: { false })
  queue.async {}
  queue.perform()
  let shown = try #require(DispatchSnapshot().queues.first { $0.label == "test.hosted" })
  #expect(shown.kind == .serial)
}
