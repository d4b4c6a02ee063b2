// Purpose: the process that runs programs. A crash or a hang ends it; the host starts another.

import FuzzKit
import Glibc
import TestSupport

enum Worker<Engine: TestedEngine> {
  /// Serves requests from standard input until its end.
  static func serve(fault: Fault?) -> Never {
    // The main thread drains the main queue.
    _ = TestThread("campaign") { serveRequests(fault) }
    Engine.drainMain()
  }

  private static func serveRequests(_ fault: Fault?) {
    let current = Current()
    let watchdog = Watchdog {
      let (index, program, events) = current.snapshot()
      let hang = Report.unfinished(program, events)
      put(
        Reply.broken(
          index: index, hang.invariant,
          text: Report.describe(hang, events) + "\n" + Report.threads()
        ).text)
      _exit(3)
    }
    var hangMilliseconds = 20_000
    var campaign = Campaign<Engine>(fault: fault, crew: Crew()) { index, program, log in
      current.set(index, program, log)
      watchdog.begin(milliseconds: hangMilliseconds * program.slowness)
    }
    while let line = readLine() {
      guard let request = Request(line: line[...], hangMilliseconds: &hangMilliseconds) else {
        _exit(2)
      }
      let finding =
        switch request {
        case .range(let seed, let indices, let percent):
          campaign.run(seed: seed, indices, busyPercent: percent)
        case .program(let program, let times): campaign.run(program, times: times)
        }
      watchdog.end()
      let slowest = campaign.slowest
      let clean = Reply.clean(slowest: slowest.index, milliseconds: slowest.milliseconds)
      put((finding.map { Reply($0) } ?? clean).text)
    }
    // The engine's threads may still run, so there is nothing to clean up.
    _exit(0)
  }

  private static func put(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { _exit(4) }
      rest = rest.dropFirst(count)
    }
  }
}

extension Reply {
  init<Engine>(_ finding: Campaign<Engine>.Finding) {
    self = .broken(
      index: finding.index, finding.violation.invariant,
      text: Report.describe(finding.violation, finding.events))
  }
}

/// The current run, for the watchdog's report.
// SAFETY: guarded by the monitor.
private final class Current: @unchecked Sendable {
  private let monitor = Monitor()
  private var index = 0
  private var program = Program(queues: [], drivers: [])
  private var log: EventLog?

  func set(_ index: Int, _ program: Program, _ log: EventLog) {
    monitor.withLock {
      self.index = index
      self.program = program
      self.log = log
    }
    // The host reads this if this process crashes.
    var note = Int64(index)
    _ = pwrite(noteDescriptor, &note, 8, 0)
  }

  func snapshot() -> (Int, Program, [Event]) {
    monitor.withLock { (index, program, log?.events ?? []) }
  }
}
