// Stacked serial queues; depth 1 is a queue on its default target.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let targetWorkloads: [Workload] =
  [1, 3, 10].map(asyncThrough) + [1, 3, 10].map(syncThrough)

/// Returns the top of a stack of `depth` serial queues.
func stack(depth: Int) -> DispatchQueue {
  var top = DispatchQueue(label: "bench.target.0")
  for level in 1..<max(1, depth) {
    top = DispatchQueue(label: "bench.target.\(level)", target: top)
  }
  return top
}

private func asyncThrough(depth: Int) -> Workload {
  Workload("target/async/\(depth)", .fixed(100_000)) { count in
    let queue = stack(depth: depth)
    let tally = Tally()
    let time = elapsed {
      for _ in 0..<count { queue.async { tally.value &+= 1 } }
      queue.sync {}
    }
    expect(tally.value == count, "\(tally.value) of \(count)")
    return Sample(time, per: count)
  }
}

private func syncThrough(depth: Int) -> Workload {
  Workload("target/sync/\(depth)") { count in
    let queue = stack(depth: depth)
    var total = 0
    let time = elapsed { for _ in 0..<count { queue.sync { total &+= 1 } } }
    expect(total == count, "\(total) of \(count)")
    return Sample(time, per: count)
  }
}
