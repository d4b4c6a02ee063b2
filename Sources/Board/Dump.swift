// What the command prints of one board: findings, threads, queues.

/// One look at a process or at a file.
package struct Dump {
  package let analysis: Analysis
  package let findings: [Finding]
  /// What may hang, if there are no findings.
  package let possibilities: [Possibility]
  /// `nil`: a file, whose process need not exist any more.
  package let liveProcess: Int?
  private let isStopped: Bool

  private static var secondLookNanoseconds: UInt64 { 20_000_000 }

  /// Looks at a live process. If something seems to hang, looks again: what moved meanwhile does
  /// not hang. The second look comes a little later, unless the board alone says what hangs, and
  /// that it has for longer. `pausing` calls its argument, which sleeps between the looks.
  package init(
    _ source: some BoardSource, process: Int, stuckAfter: UInt64,
    pausing: (() -> Void) -> Void = { $0() }
  ) throws {
    let first = try Snapshot(source)
    let kernel = KernelQuestions()
    var before: [UInt32: KernelThread] = [:]
    for thread in first.threads where thread.activity == .running {
      before[thread.id] = KernelThread(thread.id, of: process)
    }
    let strangersBefore = Memo { Strangers.known(in: process, beside: first) }
    func analysis(_ snapshot: Snapshot, _ asleep: [UInt32: Bool]) -> Analysis {
      let strangers = Memo {
        Strangers(strangersBefore.value, Strangers.known(in: process, beside: snapshot))
      }
      return Analysis(
        snapshot, now: Clock.monotonicNanoseconds(), stuckAfter: stuckAfter,
        isAsleep: { id in
          kernel.ask { asleep[id] ?? KernelThread(id, of: process)?.isAsleep }
        },
        isInLock: { id in kernel.ask { KernelThread.isInLock(id, of: process) } },
        mayGetEvents: { kernel.ask { ProcessEvents.mayCome(to: process) } },
        mayHaveActors: {
          // The drop-in library has no search for a string in a string.
          readText("/proc/\(process)/maps")?.split(separator: "/").contains {
            $0.hasPrefix("libswift_Concurrency")
          } ?? false
        },
        strangers: { kernel.ask { strangers.value } })
    }
    let guess = analysis(first, before.mapValues(\.isAsleep))
    let suspicions = guess.findings()
    isStopped =
      KernelThread(UInt32(truncatingIfNeeded: process), of: process)?.isStopped ?? false
    liveProcess = process
    guard !suspicions.isEmpty || !guess.possibilities(beside: suspicions).isEmpty else {
      self.analysis = guess
      findings = []
      possibilities = []
      return
    }
    if kernel.wereAsked || guess.hasChange(within: Self.secondLookNanoseconds) {
      pausing {
        var pause = timespec(tv_sec: 0, tv_nsec: Int(Self.secondLookNanoseconds))
        nanosleep(&pause, nil)
      }
    }
    var second = try Snapshot(source)
    let times = Dictionary(first.threads.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    var asleep: [UInt32: Bool] = [:]
    for index in second.threads.indices {
      let thread = second.threads[index]
      if thread.activity == .running {
        let now = KernelThread(thread.id, of: process)
        asleep[thread.id] = now?.isAsleep ?? false && now == before[thread.id]
      } else if times[thread.id]?.since != thread.since
        || times[thread.id]?.object != thread.object
      {
        // It moved: whatever it does now has just begun.
        second.threads[index].activity = .running
        asleep[thread.id] = false
      }
    }
    self.analysis = analysis(second, asleep)
    findings = self.analysis.findings()
    possibilities = self.analysis.possibilities(beside: findings)
  }

  /// Looks at the board of a process that may have ended. Where the time of its end is not known,
  /// no wait is too short.
  package init(
    _ source: some BoardSource, endedAt: UInt64? = nil, stuckAfter: UInt64 = 0
  ) throws {
    let snapshot = try Snapshot(source)
    analysis = Analysis(
      snapshot, now: endedAt ?? snapshot.latest, stuckAfter: endedAt == nil ? 0 : stuckAfter,
      isAsleep: { _ in nil })
    findings = analysis.findings()
    possibilities = []
    liveProcess = nil
    isStopped = false
  }

  // MARK: Text

  package func text(all: Bool, style: Style) -> String {
    summary(style) + details(all: all, style: style)
  }

  /// The first lines: what hangs, or that nothing does.
  package func summary(_ style: Style) -> String {
    var lines: [String] = []
    for finding in findings {
      lines.append(style.alarm(finding.headline))
      lines += finding.details.map { "  " + $0 }
    }
    for possibility in possibilities {
      lines.append(style.doubt(possibility.headline))
      lines += possibility.details.map { "  " + $0 }
    }
    if findings.isEmpty && possibilities.isEmpty {
      lines.append(style.good("Nothing is stuck."))
      if liveProcess != nil { lines += analysis.wordsOfNoFinding.map { "  " + $0 } }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The other lines: the process, threads, queues.
  package func details(all: Bool, style: Style) -> String {
    let snapshot = analysis.snapshot
    var lines = [""]
    let place = liveProcess == nil ? "at its end" : isStopped ? "stopped; times run on" : "running"
    lines.append(
      "Process \(snapshot.process) '\(snapshot.name)' (\(place)), width \(snapshot.width), at most "
        + "\(snapshot.maxThreads) threads")
    if snapshot.torn > 0 {
      lines.append("\(snapshot.torn) record(s) changed while they were read, and are missing.")
    }
    lines += threadLines(all: all, style) + queueLines(all: all, style)
    return lines.joined(separator: "\n") + "\n"
  }

  private func threadLines(all: Bool, _ style: Style) -> [String] {
    let threads = analysis.snapshot.threads
      .filter { all || $0.activity != .idle }
      .sorted { ($0.since, $0.id) < ($1.since, $1.id) }
    let idle = analysis.snapshot.threads.count { $0.activity == .idle }
    let shown = all ? threads[...] : threads.prefix(20)
    var lines = [style.title("Threads (\(analysis.snapshot.threads.count), \(idle) idle)")]
    lines += shown.map { thread in
      let inside = thread.held.filter { $0 != 0 }.map { "'\(analysis.label($0))'" }
      let place = inside.isEmpty ? "" : ", in \(inside.joined(separator: " in "))"
      return "  \(analysis.describe(thread)) \(analysis.doing(thread))\(place)"
    }
    if shown.count < threads.count {
      lines.append("  … and \(threads.count - shown.count) more (--all)")
    }
    return lines
  }

  private func queueLines(all: Bool, _ style: Style) -> [String] {
    var used: Set<UInt32> = []
    var waiters: [UInt32: Int] = [:]
    for thread in analysis.snapshot.threads {
      used.formUnion(thread.held)
      used.formUnion([thread.queue, thread.awaitedQueue])
      if thread.activity == .waiting { waiters[thread.awaitedQueue, default: 0] += 1 }
    }
    let queues = analysis.snapshot.queues.values
      .filter { all || used.contains($0.place) || $0.suspendedSince != 0 }
    let shown = all ? queues[...] : queues.prefix(20)
    var lines = [style.title("Queues (\(queues.count))")]
    lines += shown.map { queue in
      let waiters = waiters[queue.place] ?? 0
      var words = "  '\(analysis.label(queue.place))' \(queue.kind.rawValue)"
      if queue.target != 0, analysis.snapshot.queues[queue.target]?.kind != .global {
        words += ", targets '\(analysis.label(queue.target))'"
      }
      if queue.suspendedSince != 0 {
        words += ", suspended for \(analysis.duration(analysis.age(queue.suspendedSince)))"
      }
      return words + (waiters > 0 ? ", \(Analysis.threads(waiters, "wait")) for it" : "")
    }
    if shown.count < queues.count {
      lines.append("  … and \(queues.count - shown.count) more (--all)")
    }
    return lines
  }
}

/// Colours, in a terminal only.
package struct Style {
  let isColoured: Bool
  package init(isColoured: Bool) { self.isColoured = isColoured }
  private func paint(_ code: String, _ text: String) -> String {
    isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
  package func alarm(_ text: String) -> String { paint("1;31", text) }
  package func doubt(_ text: String) -> String { paint("33", text) }
  package func good(_ text: String) -> String { paint("32", text) }
  package func title(_ text: String) -> String { paint("1", text) }
}

/// Whether an analysis has asked the kernel what threads do, which is true of one moment only. The
/// board itself says since when a thread waits, and for what.
private final class KernelQuestions {
  private(set) var wereAsked = false
  func ask<Answer>(_ question: () -> Answer) -> Answer {
    wereAsked = true
    return question()
  }
}

/// A value that is read when it is first asked for.
private final class Memo<Value> {
  private let read: () -> Value
  private(set) lazy var value = read()
  init(_ read: @escaping () -> Value) { self.read = read }
}
