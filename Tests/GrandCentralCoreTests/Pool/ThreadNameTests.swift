import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A worker's thread") struct ThreadNameTests {
  @Test func `is named after a queue that it stays with while work waits`() {
    let gate = TestSupport.Latch()
    let number = Atomic<UInt32>(0)
    let busy = DispatchQueue(label: "name.of.a.long.queue")
    busy.async {
      number.store(currentThread().pointee.tid, ordering: .releasing)
      _ = gate.wait()
    }
    // The monitor looks only while work waits, so all workers are kept busy.
    let others = DispatchGroup()
    for _ in 0..<200 { DispatchQueue.global().async(group: others) { _ = gate.wait() } }
    #expect(
      eventually {
        Process.threadName(number.load(ordering: .acquiring)) == "name.of.a.long."
      })
    gate.open()
    others.wait()
  }
}
