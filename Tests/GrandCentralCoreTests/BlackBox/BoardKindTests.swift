// The kinds of queues that the board shows: contract row X2.
import GrandCentral
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The board") struct BoardKindTests {
  @Test func `shows a queue that another scheduler runs as a serial queue`() async {
    // In a process of its own, where queues of other tests do not fill the board.
    _ = await #expect(processExitsWith: .success) { try showHostedQueue() }
  }
}

private func showHostedQueue() throws {
  // The wait makes the board.
  let never = DispatchSemaphore(value: 0)
  #expect(never.wait(timeout: .now().advanced(by: .milliseconds(1))) == .timedOut)
  let queue = HostedQueue(label: "test.hosted", announce: { _ in }, excludes: { false })
  queue.async {}
  queue.perform()
  let shown = try #require(DispatchSnapshot().queues.first { $0.label == "test.hosted" })
  #expect(shown.kind == .serial)
}
