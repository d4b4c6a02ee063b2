// The costs of creating and keeping queues, and of pending items.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let queueWorkloads: [Workload] = [
  Workload("queue/create") { count in
    let time = elapsed {
      for _ in 0..<count { lastMade.queue = DispatchQueue(label: "bench.queue") }
      lastMade.queue = nil
    }
    return Sample(time, per: count)
  },
  // The last reference to the queue is released while its item is pending.
  Workload("queue/create-async-drop", .fixed(20_000)) { count in
    let arrivals = Arrivals()
    let time = elapsed {
      for _ in 0..<count { DispatchQueue(label: "bench.queue").async { arrivals.arrive() } }
      arrivals.wait(for: count)
    }
    return Sample(time, per: count)
  },
]

/// Stores a queue, so that the optimiser cannot remove its creation. Used by one thread at a time.
private final class Holder: @unchecked Sendable {
  @exclusivity(unchecked) var queue: DispatchQueue?
}

private let lastMade = Holder()

let memoryWorkloads: [Workload] = [
  memory("memory/idle-queue", count: 100_000) { count in
    idleQueueBytes(count, used: false)
  },
  memory("memory/idle-queue-used", count: 100_000) { count in
    idleQueueBytes(count, used: true)
  },
  memory("memory/pending-item", count: 200_000) { count in
    let queue = DispatchQueue(label: "bench.pending")
    let tally = Tally()
    queue.suspend()
    let bytes = bytesEach(of: count) {
      for index in 0..<count { queue.async { tally.value &+= index } }
    }
    expect(tally.value == 0, "a suspended queue ran an item")
    queue.resume()
    queue.sync {}
    expect(tally.value == count * (count - 1) / 2, "\(tally.value)")
    return bytes
  },
]

func memory(
  _ name: String, count: Int, bytes: @escaping @Sendable (Int) -> Double
) -> Workload {
  Workload(name, rows: [Workload.Row(name, unit: "bytes")], .exact(count), .child) { count in
    let start = now()
    // Rounded to bytes: the fraction is the unused rest of the last page.
    let figure = bytes(count).rounded()
    return Sample(now() - start, figures: [figure])
  }
}

private func idleQueueBytes(_ count: Int, used: Bool) -> Double {
  // Allocate the storage and the first queues before the measured interval: one-time costs.
  var queues: [DispatchQueue?] = Array(repeating: nil, count: count + 100)
  for index in count..<count + 100 {
    queues[index] = DispatchQueue(label: "bench.idle")
    queues[index]?.sync {}
  }
  let bytes = bytesEach(of: count) {
    for index in 0..<count {
      let queue = DispatchQueue(label: "bench.idle")
      if used { queue.sync {} }
      queues[index] = queue
    }
  }
  expect(queues.allSatisfy { $0 != nil }, "a queue is missing")
  return bytes
}
