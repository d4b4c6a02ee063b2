import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The label of a thread's current queue") struct CurrentQueueLabelsTests {
  @Test func `may be read while its queue is released, also by the reader`() {
    let stop = Atomic<Bool>(false)
    let readings = Counter()
    let pool = Runtime.shared.pool
    let reader = TestThread("reader") { [pool] in
      while !stop.load(ordering: .relaxed) {
        for index in 0..<pool.workerCount.load(ordering: .acquiring) {
          guard let thread = pool.worker(at: index)?.thread else { continue }
          if CurrentQueueLabels.label(of: thread) == "dies.soon" { readings.add() }
        }
      }
    }
    let rounds = stressed(3000)
    let done = TestSupport.Latch(2 * rounds)
    for _ in 0..<rounds {
      let queue = DispatchQueue(label: "dies.soon")
      for _ in 0..<2 { queue.async { done.open() } }
    }
    #expect(done.wait())
    // The reader must have seen a queue's label; the scheduler decides how often it does.
    #expect(
      eventually {
        DispatchQueue(label: "dies.soon").async { spinHint() }
        return readings.value > 0
      })
    stop.store(true, ordering: .relaxed)
    #expect(reader.join())
  }
}
