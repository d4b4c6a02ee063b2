// `sync` on idle and on contended queues, and the standard library's mutex beside it.

import Metrics
import Synchronization

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let syncWorkloads: [Workload] = [
  Workload("sync/idle/void") { count in
    let queue = DispatchQueue(label: "bench.sync")
    var total = 0
    let time = elapsed { for _ in 0..<count { queue.sync { total &+= 1 } } }
    expect(total == count, "\(total) of \(count)")
    return Sample(time, per: count)
  },
  Workload("sync/idle/int") { count in
    let queue = DispatchQueue(label: "bench.sync")
    var total = 0
    let time = elapsed {
      for index in 0..<count { total = queue.sync { total &+ index } }
    }
    expect(total == count * (count - 1) / 2, "\(total)")
    return Sample(time, per: count)
  },
  Workload("sync/idle/concurrent") { count in
    let queue = DispatchQueue(label: "bench.sync", attributes: .concurrent)
    var total = 0
    let time = elapsed { for _ in 0..<count { queue.sync { total &+= 1 } } }
    expect(total == count, "\(total) of \(count)")
    return Sample(time, per: count)
  },
  Workload("sync/idle/barrier") { count in
    let queue = DispatchQueue(label: "bench.sync", attributes: .concurrent)
    var total = 0
    let time = elapsed {
      for _ in 0..<count { queue.sync(flags: .barrier) { total &+= 1 } }
    }
    expect(total == count, "\(total) of \(count)")
    return Sample(time, per: count)
  },
  contendedSync(threads: 2),
  contendedSync(threads: 4),
]

private func contendedSync(threads: Int) -> Workload {
  Workload("sync/contended/\(threads)", .fixed(40_000)) { microseconds in
    let queue = DispatchQueue(label: "bench.sync")
    let tally = Tally()
    let (time, operations) = contend(threads, microseconds: microseconds) { _, stop in
      var done = 0
      while !stop.isSet {
        queue.sync { tally.value &+= 1 }
        done &+= 1
      }
      return done
    }
    expect(tally.value == operations, "\(tally.value) of \(operations)")
    return Sample(time, per: operations)
  }
}

/// Uses neither engine: a reference for `sync`. The difference of its two columns shows the noise.
let mutexWorkloads: [Workload] = [
  Workload("mutex/idle") { count in
    let mutex = Mutex(0)
    let time = elapsed { for _ in 0..<count { mutex.withLock { $0 &+= 1 } } }
    expect(mutex.withLock { $0 } == count, "lost updates")
    return Sample(time, per: count)
  },
  contendedMutex(threads: 2),
  contendedMutex(threads: 4),
]

private final class Locked: Sendable {
  let total = Mutex(0)
}

private func contendedMutex(threads: Int) -> Workload {
  Workload("mutex/contended/\(threads)", .fixed(40_000)) { microseconds in
    let locked = Locked()
    let (time, operations) = contend(threads, microseconds: microseconds) { _, stop in
      var done = 0
      while !stop.isSet {
        locked.total.withLock { $0 &+= 1 }
        done &+= 1
      }
      return done
    }
    expect(locked.total.withLock { $0 } == operations, "lost updates")
    return Sample(time, per: operations)
  }
}
