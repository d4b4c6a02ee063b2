// Items that block in the kernel without announcing it to the engine. Each sample has its own
// process, so that its threads can be counted.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let blockingWorkloads: [Workload] = [
  blocking("sleepers", items: 1_000) { items, arrivals in
    let queue = DispatchQueue.global()
    for _ in 0..<items {
      queue.async {
        sleep(microseconds: 10_000)
        arrivals.arrive()
      }
    }
  },
  blocking("blocked-queues", items: 300) { items, arrivals in
    for index in 0..<items {
      DispatchQueue(label: "bench.blocked.\(index)").async {
        sleep(microseconds: 50_000)
        arrivals.arrive()
      }
    }
  },
]

private func blocking(
  _ name: String, items: Int, submit: @escaping @Sendable (Int, Arrivals) -> Void
) -> Workload {
  let rows = [
    Workload.Row("\(name)/time", unit: "ms"), Workload.Row("\(name)/threads", unit: "threads"),
  ]
  return Workload(name, rows: rows, .exact(items), .child) { items in
    let arrivals = Arrivals()
    var time: UInt64 = 0
    let peak = peakThreads {
      time = elapsed {
        submit(items, arrivals)
        arrivals.wait(for: items)
      }
    }
    return Sample(time, figures: [Double(time) / 1e6, Double(peak)])
  }
}
