// Runs one workload under all engines alternately and collects the figures of each round.

import Metrics

/// All figures of one row.
struct Measurement {
  let row: Workload.Row
  /// A figure per round, in order; empty for an engine that is left out.
  var figures: [Engine: [Double]]

  func distribution(of engine: Engine) -> Distribution? {
    guard let values = figures[engine], !values.isEmpty else { return nil }
    return Distribution(values)
  }

  /// The ratios of our figure to the other engine's, per round. A disturbance that lasts longer
  /// than a sample affects all figures of a round, so the ratios are steadier than the figures.
  func ratios(to other: Engine) -> Distribution? {
    guard let ours = figures[.ours], let theirs = figures[other], !ours.isEmpty else { return nil }
    return Distribution(
      zip(ours, theirs).map { ours, theirs in
        // Two counts of zero are equal.
        theirs == 0 ? (ours == 0 ? 1 : .infinity) : ours / theirs
      })
  }

  /// Whether the ratios of the rounds vary so much that their median means little.
  var isScattered: Bool {
    [Engine.peer, .libuv].compactMap { ratios(to: $0) }.contains { ratios in
      ratios.quantile(0.9) - ratios.quantile(0.1) > 0.4 * ratios.median
    }
  }
}

struct Runner {
  let options: Options
  private var targetNanoseconds: Double { options.quick ? 10e6 : 40e6 }

  func measure(_ pairing: Pairing) -> [Measurement] {
    let engines = options.engines.filter { pairing.workload(of: $0) != nil }
    var counts: [Engine: Int] = [:]
    for engine in engines { counts[engine] = count(for: pairing, engine) }
    let isShared = pairing.place == .shared
    let rounds = isShared ? options.rounds : min(options.rounds, 5)
    // Contention and wake-ups vary between samples, so only more samples help.
    let maxRounds = isShared && !options.quick ? 3 * rounds : rounds
    var measurements = pairing.rows.map { Measurement(row: $0, figures: [:]) }
    for round in 0..<maxRounds {
      if round >= rounds && !measurements.contains(where: \.isScattered) { break }
      // The first engine changes with each round.
      for index in engines.indices {
        let engine = engines[(index + round) % engines.count]
        let figures = sample(pairing, engine, count: counts[engine] ?? 1)
        for (index, figure) in figures.enumerated() {
          measurements[index].figures[engine, default: []].append(figure)
        }
      }
    }
    return measurements
  }

  private func sample(_ pairing: Pairing, _ engine: Engine, count: Int) -> [Double] {
    guard let workload = pairing.workload(of: engine) else { return [] }
    let figures =
      workload.place == .child
      ? Child.run(workload.name, engine, count: count)
      : run(workload, engine, count: count).figures
    expect(figures.count == workload.rows.count, "\(workload.name) gave \(figures.count) figures")
    return figures
  }

  private func run(_ workload: Workload, _ engine: Engine, count: Int) -> Sample {
    // Lets the threads of the previous sample fall asleep.
    sleep(microseconds: 2_000)
    return Watchdog.within(seconds: 60, "\(workload.name) (\(engine.rawValue))") {
      workload.body(count)
    }
  }

  /// Finds the count for `workload.body`. Also warms the engine up.
  private func count(for pairing: Pairing, _ engine: Engine) -> Int {
    guard let workload = pairing.workload(of: engine) else { return 1 }
    switch workload.size {
    case .exact(let count):
      // A sample in a process of its own is always a first one, so no warm-up is needed.
      if workload.place == .shared { _ = run(workload, engine, count: count) }
      return count
    case .fixed(let whole):
      let count = options.quick ? max(1, whole / 4) : whole
      _ = run(workload, engine, count: count)
      return count
    case .timed:
      var count = 1
      while true {
        let time = Double(max(1, run(workload, engine, count: count).nanoseconds))
        if time >= targetNanoseconds / 2 { return count }
        // In steps, because the first, cold runs say little.
        let factor = min(10, targetNanoseconds / time)
        count = max(count + 1, Int(Double(count) * factor))
      }
    }
  }
}
