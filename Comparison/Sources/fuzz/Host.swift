// Purpose: one engine's campaign: requests ranges from a worker; shrinks and reports a finding.

import FuzzKit
import Glibc

struct Host {
  let engine: String
  let module: String
  let capabilities: Capabilities
  let options: Options
  let seed: UInt64
  private let worker: WorkerProcess
  private let hangMilliseconds: Int

  init(engine: String, module: String, capabilities: Capabilities, options: Options, seed: UInt64) {
    self.engine = engine
    self.module = module
    self.capabilities = capabilities
    self.options = options
    self.seed = seed
    worker = WorkerProcess(engine: engine, fault: options.fault)
    hangMilliseconds = options.hangSeconds * 1000
  }

  /// Runs the campaign. Returns whether the engine kept all its promises.
  func run() -> Bool {
    defer { worker.stop() }
    if let program = options.program { return repeatedly(program, index: nil) }
    if let index = options.replayIndex {
      let program = self.program(index)
      return repeatedly(program, index: index)
    }
    return campaign()
  }

  /// Returns program number `index` of the campaign.
  func program(_ index: Int) -> Program {
    Generator.program(
      seed: seed, index: index, capabilities: capabilities, busyPercent: options.busyPercent)
  }

  private func campaign() -> Bool {
    let start = monotonicNanoseconds()
    var done = 0
    func seconds() -> Double { Double(monotonicNanoseconds() - start) / 1e9 }
    var nextWord = 10.0
    var slowest = (index: 0, milliseconds: 0)
    while done < options.programs ?? .max, seconds() < Double(options.seconds ?? .max) {
      let count = min(500, (options.programs ?? .max) - done)
      let reply = worker.ask(
        .range(seed: seed, done..<done + count, busyPercent: options.busyPercent),
        hangMilliseconds: hangMilliseconds)
      if case .broken(let index, let invariant, let text) = reply {
        say("fuzz: \(engine): program \(seed):\(index), after \(Int(seconds())) s")
        report(program(index), index: index, invariant, text)
        return false
      }
      if case .clean(let index, let milliseconds) = reply, milliseconds > slowest.milliseconds {
        slowest = (index, milliseconds)
      }
      done += count
      if seconds() > nextWord {
        nextWord += 10
        say("fuzz: \(engine): \(done) programs in \(Int(seconds())) s")
      }
    }
    let rate = Int(Double(done) / max(seconds(), 0.001))
    say("fuzz: \(engine): \(done) programs of seed \(seed), \(rate) a second: nothing found")
    let (index, milliseconds) = slowest
    say("fuzz: \(engine): the slowest, program \(seed):\(index), took \(milliseconds) ms")
    return true
  }

  private func repeatedly(_ program: Program, index: Int?) -> Bool {
    do { try program.check(against: capabilities) } catch {
      say("fuzz: \(engine): cannot run this program: \(error)")
      return true
    }
    let reply = worker.ask(
      .program(program, times: options.times), hangMilliseconds: hangMilliseconds)
    guard case .broken(let time, let invariant, let text) = reply else {
      say("fuzz: \(engine): nothing found in \(options.times) runs")
      return true
    }
    say("fuzz: \(engine): broken in run \(time + 1)")
    report(program, index: index, invariant, text)
    return false
  }

  // MARK: A finding

  private func report(_ program: Program, index: Int?, _ invariant: Invariant, _ text: String) {
    say("")
    say(text)
    let (smaller, smallerText) = shrink(program, invariant)
    say("")
    if let smallerText {
      say(
        "Shrunk from \(program.allOps.count) steps to \(smaller.allOps.count), in which:\n"
          + smallerText)
    } else {
      let reason = options.shrinkSeconds == 0 ? "" : "It did not fail again; "
      say("\(reason)this is the whole program.")
    }
    say("\n// ── as Swift source ──")
    say(SwiftSource.text(of: smaller, module: module))
    var command = "scripts/dev fuzz --engine \(engine)"
    if let fault = options.fault { command += " --fault \(fault.rawValue)" }
    if let index {
      let isDefault = options.busyPercent == Generator.defaultBusyPercent
      let busy = isDefault ? "" : " --busy \(options.busyPercent)"
      say("Replay: \(command)\(busy) --replay \(seed):\(index)")
    }
    say("Replay the small one: \(command) --program '\(smaller.text)'")
  }

  /// Returns the smallest program that fails in the same way, and its report if any failed.
  private func shrink(_ program: Program, _ invariant: Invariant) -> (Program, String?) {
    let limit = monotonicNanoseconds() + UInt64(options.shrinkSeconds) * 1_000_000_000
    var lastText: String?
    var times = options.times
    func trial(_ candidate: Program, times: Int) -> Int? {
      // A hang is longer than a slow run by a large factor, so trials may have a shorter limit.
      let patience = min(hangMilliseconds, 2000)
      let reply = worker.ask(
        .program(candidate, times: times), hangMilliseconds: patience)
      guard case .broken(let time, invariant, let text) = reply else { return nil }
      lastText = text
      return time
    }
    if options.shrinkSeconds == 0 { return (program, nil) }
    guard let first = trial(program, times: times) else { return (program, nil) }
    // Enough runs that a failure with a tenth of the original's probability still shows.
    times = min(times, max(30, 10 * (first + 1)))
    let smaller = Shrinker.shrink(program, capabilities: capabilities) { candidate in
      monotonicNanoseconds() < limit && trial(candidate, times: times) != nil
    }
    // Run the printed program once more, for a report in its numbers.
    _ = trial(smaller, times: options.times)
    return (smaller, lastText)
  }
}

func say(_ text: String) {
  print(text)
  fflush(nil)
}
