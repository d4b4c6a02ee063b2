// Items on any worker: submitted by one thread, submitted by each other, and with work to do.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let poolWorkloads: [Workload] = [
  Workload("fan-out/global", .fixed(500_000)) { count in
    fanOut(count, over: DispatchQueue.global())
  },
  Workload("fan-out/private", .fixed(500_000)) { count in
    fanOut(count, over: DispatchQueue(label: "bench.fan-out", attributes: .concurrent))
  },
  Workload("tree", .fixed(1 << 18)) { count in
    let tree = Tree()
    // A perfect binary tree of this many levels has 2^levels − 1 items.
    let levels = Int.bitWidth - 1 - count.leadingZeroBitCount
    let items = 1 << levels - 1
    let time = elapsed {
      tree.queue.async { tree.grow(levels: levels - 1) }
      tree.arrivals.wait(for: items)
    }
    return Sample(time, per: items)
  },
  Workload("items/1us", .fixed(50_000)) { count in
    let queue = DispatchQueue.global()
    let arrivals = Arrivals()
    let rounds = roundsPerMicrosecond
    let time = elapsed {
      for _ in 0..<count {
        queue.async {
          burn(rounds: rounds)
          arrivals.arrive()
        }
      }
      arrivals.wait(for: count)
    }
    return Sample(time, per: count)
  },
]

private func fanOut(_ count: Int, over queue: DispatchQueue) -> Sample {
  let arrivals = Arrivals()
  let time = elapsed {
    for _ in 0..<count { queue.async { arrivals.arrive() } }
    arrivals.wait(for: count)
  }
  return Sample(time, per: count)
}

/// A tree of items. Every item submits its two children, down to the leaves.
private final class Tree: Sendable {
  let queue = DispatchQueue.global()
  let arrivals = Arrivals()

  func grow(levels: Int) {
    if levels > 0 {
      queue.async { self.grow(levels: levels - 1) }
      queue.async { self.grow(levels: levels - 1) }
    }
    arrivals.arrive()
  }
}
