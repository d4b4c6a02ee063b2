// Items on serial queues: from one and several producers, resubmitting themselves, and alternating.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let asyncWorkloads: [Workload] =
  [1, 2, 4].flatMap { [oneObject(producers: $0), twoWords(producers: $0)] } + [chain, pingPong]

/// The number of items per sample, over all producers. Both engines use the same number, because
/// the length of the backlog determines the cache misses.
private let items = 200_000

/// The closure captures one object.
private func oneObject(producers: Int) -> Workload {
  Workload("async/serial/\(producers)/one-object", .fixed(items)) { count in
    let queue = DispatchQueue(label: "bench.async")
    let tally = Tally()
    let share = count / producers
    let time = elapsed {
      produce(producers) { _ in
        for _ in 0..<share { queue.async { tally.value &+= 1 } }
      }
      queue.sync {}
    }
    expect(tally.value == share * producers, "\(tally.value) of \(share * producers)")
    return Sample(time, per: share * producers)
  }
}

/// The closure captures an object and a number.
private func twoWords(producers: Int) -> Workload {
  Workload("async/serial/\(producers)/two-word", .fixed(items)) { count in
    let queue = DispatchQueue(label: "bench.async")
    let tally = Tally()
    let share = count / producers
    let time = elapsed {
      produce(producers) { _ in
        for index in 0..<share { queue.async { tally.value &+= index } }
      }
      queue.sync {}
    }
    let sum = share * (share - 1) / 2 * producers
    expect(tally.value == sum, "\(tally.value), not \(sum)")
    return Sample(time, per: share * producers)
  }
}

/// Runs `body` for each producer. A single producer is the calling thread.
private func produce(_ producers: Int, _ body: @escaping @Sendable (Int) -> Void) {
  if producers == 1 {
    body(0)
  } else {
    _ = together(producers, body)
  }
}

/// An item that resubmits itself until its count is used up.
private final class Chain: @unchecked Sendable {
  let queue = DispatchQueue(label: "bench.chain")
  let done = Signal()
  @exclusivity(unchecked) var left: Int

  init(_ left: Int) { self.left = left }

  func step() {
    left &-= 1
    if left == 0 { return done.post() }
    queue.async { self.step() }
  }
}

private let chain = Workload("async/chain") { count in
  let chain = Chain(count)
  let time = elapsed {
    chain.queue.async { chain.step() }
    chain.done.wait()
  }
  expect(chain.left == 0, "\(chain.left) left")
  return Sample(time, per: count)
}

/// An item that resubmits itself to the other of two queues. One operation is one hop.
private final class Rally: @unchecked Sendable {
  let queues = (DispatchQueue(label: "bench.ping"), DispatchQueue(label: "bench.pong"))
  let done = Signal()
  @exclusivity(unchecked) var left: Int

  init(_ left: Int) { self.left = left }

  func ping() {
    left &-= 1
    if left == 0 { return done.post() }
    queues.1.async { self.pong() }
  }

  func pong() {
    left &-= 1
    if left == 0 { return done.post() }
    queues.0.async { self.ping() }
  }
}

private let pingPong = Workload("async/ping-pong") { count in
  let rally = Rally(count)
  let time = elapsed {
    rally.queues.0.async { rally.ping() }
    rally.done.wait()
  }
  expect(rally.left == 0, "\(rally.left) left")
  return Sample(time, per: count)
}
