// The snapshot of the program's own queues and threads: Docs/Inside.md.
import GrandCentral
import TestSupport
import Testing

@Suite("A snapshot") struct SnapshotTests {
  /// In a process of its own: the board has a bounded number of queues, and other tests use more.
  @Test func `says how many items a thread has begun on its queue, and since when`() async {
    await #expect(processExitsWith: .success) {
      let queue = DispatchQueue(label: "snapshot.third")
      let hasBegun = Latch()
      let gate = Latch()
      // The three are there before the first one begins: the thread takes the queue once.
      queue.suspend()
      queue.async {}
      queue.async {}
      queue.async {
        hasBegun.open()
        _ = gate.wait()
      }
      let before = DispatchTime.now()
      queue.resume()
      #expect(hasBegun.wait())
      let snapshot = DispatchSnapshot(stuckAfter: .seconds(3600))
      gate.open()
      queue.sync {}
      let id = try #require(snapshot.queues.first { $0.label == "snapshot.third" }).id
      let thread = try #require(snapshot.threads.first { $0.queues.first == id })
      #expect(thread.itemsOnQueue == 3)
      let since = try #require(thread.queueSince)
      // The board's clock is late by up to a tick of the kernel.
      #expect(since.advanced(by: .milliseconds(20)) >= before)
      #expect(since <= snapshot.time)
      for thread in snapshot.threads where thread.queues.isEmpty {
        #expect(thread.queueSince == nil && thread.itemsOnQueue == nil)
      }
    }
  }
}
