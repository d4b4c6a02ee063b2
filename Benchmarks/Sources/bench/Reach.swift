// The limits of every row: the largest ratio to the toolchain's figure and, for some rows, the
// largest ratio to libuv's figure and the largest figure.

import Metrics

struct Reach {
  /// The largest ratio of our figure to the toolchain's; `nil` if the row has no such limit.
  var ratio: Double?
  /// The largest ratio of our figure to libuv's.
  var libuv: Double?
  /// The largest figure of ours, in the row's unit.
  var ceiling: Double?

  /// As fast as the toolchain, with 5 % for the noise of measuring.
  static let parity = Reach(ratio: 1.05)
  /// The row is shown and not judged.
  static let reference = Reach()

  static func ratio(_ limit: Double, libuv: Double? = nil) -> Reach {
    Reach(ratio: limit, libuv: libuv)
  }
  static func ceiling(_ limit: Double) -> Reach { Reach(ceiling: limit) }
}

extension Reach {
  /// The limits of `row`; parity if the table has none.
  static func of(_ row: String) -> Reach { table[row] ?? .parity }

  static let table: [String: Reach] = [
    "sync/idle/void": .ratio(0.1),
    "sync/idle/int": .ratio(0.1),
    "sync/idle/concurrent": .ratio(0.1),
    "sync/idle/barrier": .ratio(0.1),
    "sync/contended/2": .ratio(0.35),
    "sync/contended/4": .ratio(0.35),

    // These use neither engine.
    "mutex/idle": .reference,
    "mutex/contended/2": .reference,
    "mutex/contended/4": .reference,
    "floor/closure/two-word": .reference,
    "floor/wake/median": .reference,

    // Two words are a context that the program allocates and the worker frees: see floor/closure.
    "async/serial/1/one-object": .ratio(0.2),
    "async/serial/1/two-word": .ratio(0.5),
    "async/serial/2/one-object": .ratio(0.5),
    "async/serial/2/two-word": .ratio(0.5),
    "async/serial/4/one-object": .ratio(0.5),
    "async/serial/4/two-word": .ratio(0.5),
    "async/chain": .ratio(0.3),
    "async/ping-pong": .ratio(0.15),

    "wake/serial/median": .ratio(0.8),
    "wake/global/median": .ratio(0.8),

    // "of-alone" compares two percentiles of one engine. On either engine, the kernel lets a short
    // request preempt other work when its thread wakes up, so it is as fast as alone and cannot
    // become faster. A request that computes has to share.
    "qos/requests/alone/p50": .ratio(0.8),
    "qos/requests/alone/p99": .reference,
    "qos/requests/beside-background/p50": .reference,
    "qos/requests/beside-background/p99": .parity,
    "qos/requests/beside-background/p99-of-alone": .ceiling(2),
    "qos/requests/beside-utility/p50": .reference,
    "qos/requests/beside-utility/p99": .parity,
    "qos/requests/beside-utility/p99-of-alone": .ceiling(2),
    "qos/computing-2ms/alone/p50": .reference,
    "qos/computing-2ms/alone/p99": .reference,
    "qos/computing-2ms/beside-background/p50": .ratio(0.8),
    "qos/computing-2ms/beside-background/p99": .ratio(0.5),
    "qos/computing-2ms/beside-background/p99-of-alone": .ceiling(2),
    "qos/computing-10ms/alone/p50": .reference,
    "qos/computing-10ms/alone/p99": .reference,
    "qos/computing-10ms/beside-background/p50": .ratio(0.8),
    "qos/computing-10ms/beside-background/p99": .ratio(0.5),
    "qos/computing-10ms/beside-background/p99-of-alone": .ceiling(2),
    // The toolchain's classes have no effect, so the work ahead has an equal share of the CPUs.
    "qos/inversion/async": .ratio(0.8),
    "qos/inversion/sync": .ratio(0.8),
    "qos/propagation/none": .ratio(0.4),
    "qos/propagation/inferred": .ratio(0.4),
    "qos/propagation/cost": .ceiling(5),
    "qos/two-classes": .reference,
    "qos/ping-pong/utility-user-initiated": .ratio(0.5),
    "qos/ping-pong/default-utility": .ratio(0.5),

    "fan-out/global": .ratio(0.35),
    "fan-out/private": .ratio(0.35),
    "tree": .ratio(0.35),

    "barriers/90-10/sync": .ratio(0.3),
    "barriers/90-10/async": .ratio(1.05),

    "group/enter-leave": .ratio(0.5),
    "group/async-wait": .ratio(0.5),
    // The ping-pong is the kernel's hand-off between two sleeping threads: parity.
    "semaphore/wait-signal": .ratio(0.8),
    "work-item/create-perform": .ratio(0.5),

    // The other kinds of concurrentPerform compute, which no engine makes faster.
    "perform/empty": .ratio(0.3),
    "perform/empty-inline": .ratio(0.3),

    "memory/idle-queue": Reach(ratio: 1.05, ceiling: 160),
    "memory/pending-item": Reach(ratio: 1.05, ceiling: 112),

    "sleepers/time": .ratio(0.3),
    "sleepers/threads": .ceiling(128),
    // Fewer threads than queues cannot block in all of them at once, so the time is only shown.
    "blocked-queues/time": .reference,
    "blocked-queues/threads": .ceiling(299),

    "sources/create-cancel/user-data": .ratio(0.8),
    "sources/create-cancel/read": .ratio(0.8),
    "sources/ping-pong/thread": .ratio(0.5, libuv: 1.2),
    "sources/ping-pong/one-queue": .ratio(0.5, libuv: 1.2),
    "sources/stream": .ratio(0.8, libuv: 1.2),
    // libuv's ratio is only shown: its one thread shares nothing, unlike a pool.
    "sources/1000-pairs": .ratio(0.8),

    // The two parts are shown for information.
    "timers/100k/in-order": .ratio(0.3, libuv: 1),
    "timers/100k/in-order/arm": .reference,
    "timers/100k/in-order/cancel": .reference,
    "timers/100k/shuffled": .ratio(0.3, libuv: 1),
    "timers/100k/shuffled/arm": .reference,
    "timers/100k/shuffled/cancel": .reference,
    "timers/100k/capturing": .ratio(0.8),
    "timers/100k/capturing/arm": .reference,
    "timers/100k/capturing/cancel": .reference,
    "timers/re-arm": .ratio(0.8, libuv: 1),
    "timers/1ms/late/median": .ratio(0.8, libuv: 1),
    "timers/1ms/late/p99": .ratio(0.8, libuv: 1),
    "timers/leeway/wake-ups": .ratio(0.8),
    "timers/firing/cpu": .ratio(0.8),
    "after/100k/cpu": .ratio(0.8),
    // The lateness is within the leeway of the call, and buys the processor time.
    "after/100k/late/median": .reference,
    "after/100k/late/p99": .reference,
    "memory/armed-timer": Reach(ratio: 1.05, ceiling: 256),
    "memory/pending-after": Reach(ratio: 1.05, ceiling: 232),

    "data/create/64": .ratio(0.5),
    "data/append-bytes/10k": Reach(ratio: 0.5, ceiling: 100),
    "data/append-data/10k": Reach(ratio: 0.5, ceiling: 100),
    "data/append-data/100k": Reach(ratio: 0.5, ceiling: 100),
    "data/concat/2": .ratio(0.5),
    "data/drop/10k": .ratio(0.5),
    "data/byte/flat": .ratio(0.5),
    "data/byte/20k-pieces": .ratio(0.5),
    "data/region/20k-pieces": .ratio(0.5),
    "data/subdata/flat": .ratio(0.5),
    "data/subdata/10-pieces": .ratio(0.5),
    "data/subdata/20k-pieces": .ratio(0.5),
    "data/enumerate/1k-pieces": .ratio(0.5),
    "data/iterate/1k-pieces": .ratio(0.5),
    "data/copy/1k-pieces": .ratio(0.5),
    "data/map/1k-pieces": .ratio(0.5),
    "data/map-again/1k-pieces": .ratio(0.5),

    // Ratios to the same sample's measurement without an engine, with our own limits.
    "io/read/1GiB/of-loop": .ceiling(1.25),
    "io/read/1GiB/of-cat": .reference,
    "io/read/1GiB/peak": .ceiling(16),
    "io/copy/256MiB/of-cp": .ceiling(1.15),
    "io/pipe/of-loop": .reference,
    "io/lines/pipe": .ratio(0.5),
    "io/lines/file": .ratio(0.5),
    "io/random/4KiB/32": .ratio(0.2),
    "io/random/4KiB/32/of-pread": .reference,
    // These depend on the disk and its other users.
    "io/random-cold/4KiB/32": .reference,
    "io/random-cold/4KiB/32/cpu": .reference,

    "tasks/hop": .reference,
    // A hop costs no more than `async` of a closure.
    "tasks/hop/of-async": .ceiling(1),
    // On the toolchain these tasks wait until others give up.
    "tasks/blocked": .ceiling(10_000_000),
    "tasks/urgent/p50": .reference,
    "tasks/urgent/p99": .ratio(0.3),
    "tasks/urgent/loop/p50": .reference,
    "tasks/urgent/loop/p99": .ratio(0.3),
    "tasks/pipe": .parity,
    // At least 0.9 of the throughput of one read with a handler.
    "tasks/pipe/of-handler": .ceiling(1.11),
    "tasks/pipe/1GiB/peak": .ceiling(2),
  ]
}

/// The verdict on a row.
enum Verdict: String {
  case pass
  case over
  /// The median ratio is over the limit, but at least a tenth of the rounds are within it. Measure
  /// again with more rounds or on a quieter machine.
  case unsure = "over?"
  /// The row has no limit, or lacks the figures for it.
  case unjudged = "-"
}

extension Reach {
  /// The worst verdict of the row's limits.
  func verdict(of measurement: Measurement) -> Verdict {
    var verdicts: [Verdict] = []
    for (limit, engine) in [(ratio, Engine.peer), (libuv, .libuv)] {
      guard let limit, let measured = measurement.ratios(to: engine) else { continue }
      verdicts.append(
        measured.quantile(0.1) > limit ? .over : measured.median > limit ? .unsure : .pass)
    }
    if let ceiling, let ours = measurement.distribution(of: .ours) {
      verdicts.append(ours.median > ceiling ? .over : .pass)
    }
    return [.over, .unsure, .pass].first(where: verdicts.contains) ?? .unjudged
  }

  var text: String {
    let parts = [
      ratio.map { "≤ \(decimal($0, 2))" }, ceiling.map { "≤ \(decimal($0, $0 < 2 ? 2 : 0)) abs" },
    ]
    let shown = parts.compactMap { $0 }
    return shown.isEmpty ? "-" : shown.joined(separator: ", ")
  }

  var libuvText: String { libuv.map { "≤ \(decimal($0, 2))" } ?? "-" }
}
