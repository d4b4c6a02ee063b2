// Requests of a user, alone and while less urgent work computes on every CPU. A short request
// counts from the call of `async` on an idle queue to the item's first instruction; a request that
// computes for ten milliseconds counts to its last.

import Glibc
import Metrics
import Synchronization

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let requestWorkloads: [Workload] = [
  requests("qos/requests", beside: [.background, .utility], count: 600),
  requests("qos/computing-2ms", beside: [.background], microseconds: 2_000, count: 300),
  requests("qos/computing-10ms", beside: [.background], microseconds: 10_000, count: 100),
]

/// Items that compute for two milliseconds each and resubmit themselves: twice as many as CPUs.
final class Scan: @unchecked Sendable {
  private let queue: DispatchQueue
  private let chains: Int
  private let ended = Signal()
  private let isOver = Atomic<Bool>(false)

  /// Returns when every chain has started to compute.
  init(_ qosClass: DispatchQoS.QoSClass) {
    queue = DispatchQueue.global(qos: qosClass)
    chains = 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let rounds = 2000 * roundsPerMicrosecond
    let begun = Countdown(chains)
    for _ in 0..<chains {
      queue.async { [self] in
        begun.arrive()
        go(rounds)
      }
    }
    begun.wait()
  }

  private func go(_ rounds: Int) {
    burn(rounds: rounds)
    if isOver.load(ordering: .relaxed) { return ended.post() }
    queue.async { [self] in go(rounds) }
  }

  func end() {
    isOver.store(true, ordering: .relaxed)
    for _ in 0..<chains { ended.wait() }
  }
}

private func name(of other: DispatchQoS.QoSClass?) -> String {
  switch other {
  case nil: "alone"
  case .background: "beside-background"
  default: "beside-utility"
  }
}

/// Rows for requests alone and beside each class of `others`. For each of `others`, a row compares
/// the 99th percentile with the one alone.
private func requests(
  _ family: String, beside others: [DispatchQoS.QoSClass], microseconds: Int = 0, count: Int
) -> Workload {
  let phases = [nil] + others.map { Optional($0) }
  let rows = phases.flatMap { other in
    let name = "\(family)/\(name(of: other))"
    let rows = [Workload.Row("\(name)/p50"), Workload.Row("\(name)/p99")]
    return other == nil ? rows : rows + [Workload.Row("\(name)/p99-of-alone", unit: "ratio")]
  }
  return Workload(family, rows: rows, .fixed(count), .shared) { count in
    let start = now()
    var alone = 0.0
    let figures = phases.flatMap { other in
      let scan = other.map { Scan($0) }
      let delays = Distribution(answers(count, microseconds))
      scan?.end()
      let long = delays.quantile(0.99)
      if other == nil { alone = long }
      return [delays.median, long] + (other == nil ? [] : [long / max(alone, 1)])
    }
    return Sample(now() - start, figures: figures)
  }
}

private final class Request: @unchecked Sendable {
  let ran = Signal()
  @exclusivity(unchecked) var answeredAt: UInt64 = 0
}

/// Sends a request each millisecond from a thread outside the engine. Returns the delays.
private func answers(_ count: Int, _ microseconds: Int) -> [Double] {
  let queue = DispatchQueue(label: "bench.requests", qos: .userInitiated)
  let rounds = microseconds * roundsPerMicrosecond
  let request = Request()
  return (0..<count).map { _ in
    sleep(microseconds: 1000)
    let submittedAt = now()
    queue.async {
      burn(rounds: rounds)
      request.answeredAt = now()
      request.ran.post()
    }
    request.ran.wait()
    expect(request.answeredAt >= submittedAt, "answered before it was submitted")
    return Double(request.answeredAt - submittedAt)
  }
}
