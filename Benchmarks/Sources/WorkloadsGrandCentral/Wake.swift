// The delay from the call of `async` on an idle queue, while the engine's threads sleep, to the
// first instruction of the item.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let wakeWorkloads: [Workload] = [
  wake("wake/serial") { DispatchQueue(label: "bench.wake") },
  wake("wake/global") { DispatchQueue.global() },
]

private final class Record: @unchecked Sendable {
  let ran = Signal()
  @exclusivity(unchecked) var startedAt: UInt64 = 0
}

private func wake(_ name: String, on queue: @escaping @Sendable () -> DispatchQueue) -> Workload {
  let rows = [Workload.Row("\(name)/median"), Workload.Row("\(name)/p99")]
  return Workload(name, rows: rows, .fixed(200), .shared) { count in
    let queue = queue()
    let record = Record()
    var delays: [Double] = []
    delays.reserveCapacity(count)
    let start = now()
    for _ in 0..<count {
      // Long enough for workers to fall asleep, even after a spin.
      sleep(microseconds: 200)
      let submittedAt = now()
      queue.async {
        record.startedAt = now()
        record.ran.post()
      }
      record.ran.wait()
      expect(record.startedAt >= submittedAt, "started before it was submitted")
      delays.append(Double(record.startedAt - submittedAt))
    }
    let delay = Distribution(delays)
    return Sample(now() - start, figures: [delay.median, delay.quantile(0.99)])
  }
}
