// `concurrentPerform`: overhead, balance, nesting and start-up.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let performWorkloads: [Workload] = [
  // The optimiser cannot inline this closure.
  Workload("perform/empty") { count in
    let body = opaque { keep($0) }
    let iterations = 1_000_000
    let time = elapsed {
      for _ in 0..<count { DispatchQueue.concurrentPerform(iterations: iterations, execute: body) }
    }
    return Sample(time, per: count * iterations)
  },
  // The body is a literal closure, which an inlinable front end may inline.
  Workload("perform/empty-inline") { count in
    let iterations = 1_000_000
    let time = elapsed {
      for _ in 0..<count {
        DispatchQueue.concurrentPerform(iterations: iterations) { keep($0) }
      }
    }
    return Sample(time, per: count * iterations)
  },
  performMemory(name: "perform/memory-rows", row: 4_096),
  performMemory(name: "perform/memory-elements", row: 1),
  // The last iterations are the longest: 0 to about 20 µs.
  Workload("perform/skewed") { count in
    let iterations = 1_024
    let rounds = roundsPerMicrosecond
    let arrivals = Arrivals()
    let time = elapsed {
      for _ in 0..<count {
        DispatchQueue.concurrentPerform(iterations: iterations) { index in
          burn(rounds: index * rounds / 50)
          arrivals.arrive()
        }
      }
    }
    expect(arrivals.count == count * iterations, "\(arrivals.count) of \(count * iterations)")
    return Sample(time, per: count * iterations)
  },
  Workload("perform/nested") { count in
    let arrivals = Arrivals()
    let time = elapsed {
      for _ in 0..<count {
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
          DispatchQueue.concurrentPerform(iterations: 1_000) { _ in arrivals.arrive() }
        }
      }
    }
    expect(arrivals.count == count * 16_000, "\(arrivals.count) of \(count * 16_000)")
    return Sample(time, per: count * 16_000)
  },
  // One operation is a call with two iterations.
  Workload("perform/two") { count in
    let arrivals = Arrivals()
    let time = elapsed {
      for _ in 0..<count {
        DispatchQueue.concurrentPerform(iterations: 2) { _ in arrivals.arrive() }
      }
    }
    expect(arrivals.count == count * 2, "\(arrivals.count) of \(count * 2)")
    return Sample(time, per: count)
  },
]

@inline(never)
private func opaque(_ body: @escaping @Sendable (Int) -> Void) -> @Sendable (Int) -> Void {
  held = Held(body: body)
  return held.body
}

/// Holds a closure without a generic container, whose thunks would be measured too.
private struct Held {
  let body: @Sendable (Int) -> Void
}

/// Written only by the thread that runs the workloads.
nonisolated(unsafe) private var held = Held { _ in }

/// `a = b + 3c` over three arrays of 8 MiB, with `row` elements per iteration.
private func performMemory(name: String, row: Int) -> Workload {
  Workload(name) { count in
    let arrays = Arrays()
    let iterations = Arrays.length / row
    let time = elapsed {
      for _ in 0..<count {
        DispatchQueue.concurrentPerform(iterations: iterations) { index in
          arrays.combine(from: index * row, count: row)
        }
      }
    }
    expect(arrays.isCombined, "iterations were left out")
    return Sample(time, per: count * iterations)
  }
}

private final class Arrays: @unchecked Sendable {
  static let length = 1 << 20
  private let a = UnsafeMutablePointer<Double>.allocate(capacity: length)
  private let b = UnsafeMutablePointer<Double>.allocate(capacity: length)
  private let c = UnsafeMutablePointer<Double>.allocate(capacity: length)

  init() {
    for index in 0..<Self.length {
      a[index] = 0
      b[index] = Double(index)
      c[index] = 1
    }
  }

  deinit {
    a.deallocate()
    b.deallocate()
    c.deallocate()
  }

  func combine(from start: Int, count: Int) {
    for index in start..<start + count { a[index] = b[index] + 3 * c[index] }
  }

  var isCombined: Bool {
    (0..<Self.length).allSatisfy { a[$0] == Double($0) + 3 }
  }
}
