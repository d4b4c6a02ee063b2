// Four threads make nine reads to one write on a concurrent queue.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let barrierWorkloads: [Workload] = [
  readersAndWriters("barriers/90-10/sync") { queue, write in
    queue.sync(flags: .barrier, execute: write)
  },
  readersAndWriters("barriers/90-10/async") { queue, write in
    queue.async(flags: .barrier, execute: write)
  },
]

/// Two numbers that only a barrier changes. Every reader must find them equal.
private final class Pair: @unchecked Sendable {
  @exclusivity(unchecked) var first = 0
  @exclusivity(unchecked) var second = 0

  func write() {
    first &+= 1
    second &+= 1
  }
}

private func readersAndWriters(
  _ name: String,
  write: @escaping @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> Void
) -> Workload {
  Workload(name, .fixed(40_000)) { microseconds in
    let queue = DispatchQueue(label: "bench.barriers", attributes: .concurrent)
    let pair = Pair()
    let writes = Arrivals()
    let start = now()
    let (_, operations) = contend(4, microseconds: microseconds) { _, stop in
      var done = 0
      while !stop.isSet {
        done &+= 1
        if done % 10 == 0 {
          write(queue) { pair.write() }
          writes.arrive()
        } else {
          let equal = queue.sync { pair.first == pair.second }
          expect(equal, "a reader ran beside a barrier")
        }
      }
      return done
    }
    // The last writes may still be queued.
    queue.sync(flags: .barrier) {}
    let time = now() - start
    expect(pair.first == writes.count, "\(pair.first) writes of \(writes.count)")
    return Sample(time, per: operations)
  }
}
