// The cost of quality of service where it has no effect; and the delay of urgent work behind less
// urgent work while other work keeps every CPU busy.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let qosWorkloads: [Workload] =
  requestWorkloads + [
    inversion("async") { queue, begins in
      let calledAt = now()
      queue.async(qos: .userInitiated) { begins(calledAt) }
    },
    inversion("sync") { queue, begins in
      DispatchQueue.global(qos: .userInitiated).async {
        let calledAt = now()
        queue.sync { begins(calledAt) }
      }
    },
    propagation, twoClasses,
    rally("utility", "user-initiated", .utility, .userInitiated),
    rally("default", "utility", .default, .utility), mixedBarriers,
  ]

/// `async` to a busy serial queue from an item without a class, and from one at user-initiated,
/// whose class each submitted item then carries. The two alternate, so that disturbances of the
/// machine affect both; the difference is the cost.
private let propagation = Workload(
  "qos/propagation",
  rows: ["none", "inferred", "cost"].map { Workload.Row("qos/propagation/\($0)") },
  .fixed(20_000), .shared
) { count in
  var none: [Double] = []
  var inferred: [Double] = []
  let start = now()
  for _ in 0..<11 {
    none.append(submission(.unspecified, count))
    inferred.append(submission(.userInitiated, count))
  }
  let figures = [Distribution(none).median, Distribution(inferred).median]
  return Sample(now() - start, figures: figures + [figures[1] - figures[0]])
}

private func submission(_ qos: DispatchQoS, _ count: Int) -> Double {
  let producer = DispatchQueue(label: "bench.qos.producer")
  let queue = DispatchQueue(label: "bench.qos")
  let tally = Tally()
  let ended = Signal()
  let time = elapsed {
    producer.async(qos: qos, flags: qos == .unspecified ? .noQoS : .enforceQoS) {
      for _ in 0..<count { queue.async { tally.value &+= 1 } }
      ended.post()
    }
    ended.wait()
    queue.sync {}
  }
  expect(tally.value == count, "\(tally.value) of \(count)")
  return Double(time) / Double(count)
}

/// Items of two classes alternate, so the queue's class rises and falls continuously.
private let twoClasses = Workload("qos/two-classes", .fixed(200_000)) { count in
  let queue = DispatchQueue(label: "bench.qos.two")
  let tally = Tally()
  let time = elapsed {
    for number in 0..<count {
      queue.async(qos: number % 2 == 0 ? .utility : .userInitiated) { tally.value &+= 1 }
    }
    queue.sync {}
  }
  expect(tally.value == count, "\(tally.value) of \(count)")
  return Sample(time, per: count)
}

/// Two serial queues of different classes that pass a turn back and forth. One operation is one
/// hop.
private func rally(
  _ one: String, _ other: String, _ classes: DispatchQoS...
) -> Workload {
  Workload("qos/ping-pong/\(one)-\(other)") { count in
    let rally = Rally(count, classes.map { DispatchQueue(label: "bench.qos.rally", qos: $0) })
    let time = elapsed { rally.play() }
    expect(rally.left == 0, "\(rally.left) left")
    return Sample(time, per: count)
  }
}

private final class Rally: @unchecked Sendable {
  private let queues: [DispatchQueue]
  private let done = Signal()
  @exclusivity(unchecked) private(set) var left: Int

  init(_ left: Int, _ queues: [DispatchQueue]) { (self.left, self.queues) = (left, queues) }

  func play() {
    queues[0].async { self.turn(0) }
    done.wait()
  }

  private func turn(_ number: Int) {
    left &-= 1
    if left == 0 { return done.post() }
    queues[1 - number].async { self.turn(1 - number) }
  }
}

/// Items of all classes on a concurrent queue, every second one a barrier.
private let mixedBarriers = Workload("qos/mixed-barriers", .fixed(80_000)) { count in
  let classes: [DispatchQoS] = [
    .userInteractive, .userInitiated, .default, .utility, .background,
  ]
  let queue = DispatchQueue(label: "bench.qos.mixed", attributes: .concurrent)
  let tally = Tally()
  let time = elapsed {
    for number in 0..<count {
      let flags: DispatchWorkItemFlags = number % 2 == 0 ? [.enforceQoS, .barrier] : .enforceQoS
      queue.async(qos: classes[number % classes.count], flags: flags) {
        if number % 2 == 0 { tally.value &+= 1 }
      }
    }
    queue.sync(flags: .barrier) {}
  }
  expect(tally.value == count / 2, "\(tally.value) of \(count / 2)")
  return Sample(time, per: count)
}

private final class Urgent: @unchecked Sendable {
  let ran = Signal()
  @exclusivity(unchecked) var delay: UInt64 = 0
}

/// Queues a background item of 10 ms while utility work keeps every CPU busy, then urgent work
/// behind it. `submit` submits the urgent work, which calls the closure with the submission time.
private func inversion(
  _ name: String,
  _ submit: @escaping @Sendable (DispatchQueue, @escaping @Sendable (UInt64) -> Void) -> Void
) -> Workload {
  Workload("qos/inversion/\(name)", .fixed(10)) { count in
    let rounds = 10_000 * roundsPerMicrosecond
    let start = now()
    let scan = Scan(.utility)
    let urgent = Urgent()
    let delays = (0..<count).map { _ in
      let queue = DispatchQueue(label: "bench.qos.inverted")
      queue.async(qos: .background) { burn(rounds: rounds) }
      submit(queue) { calledAt in
        urgent.delay = now() - calledAt
        urgent.ran.post()
      }
      urgent.ran.wait()
      return Double(urgent.delay)
    }
    scan.end()
    return Sample(now() - start, figures: [Distribution(delays).median])
  }
}
