// Purpose: the whole tour: a warm-up run that is not measured, rounds in which each engine runs
// once in a process of its own, the comparison with `cksum`, the table, and the live chapters.

import TourChapters
import TourKit

struct Tour {
  private let options: Options
  private let screen: Screen
  private let root: Path
  private var expected = Findings()
  private var runs = Engine.allCases.map { EngineRuns(engine: $0) }
  private var problems: [String] = []

  init(_ options: Options) throws(Complaint) {
    self.options = options
    screen = Screen(plain: options.isPlain)
    if let path = options.path {
      root = try Folders.resolve(path)
    } else {
      root = try Folders.standard()
    }
  }

  /// Runs the tour and returns the exit code.
  consuming func run() throws(Complaint) -> Int32 {
    Interruption.watch()
    screen.hideCursor()
    var tour = self
    defer { tour.screen.showCursor() }
    Machine.say(tour.screen.bold("Grand Central's tour of \(tour.root)") + "\n")
    if tour.options.includes(.checksums) {
      Machine.say("\n")
      let code = try tour.checksumEverything()
      if code != 0 { return code }
    }
    return try tour.goLive()
  }

  /// Runs the rounds of checksums, prints their table, and returns the exit code.
  private mutating func checksumEverything() throws(Complaint) -> Int32 {
    guard let warmUp = try perform(.serial, title: "warming up") else {
      return Interruption.exitCode
    }
    expected = warmUp.findings
    describeFindings()
    let rounds = options.rounds ?? (warmUp.costs.seconds < 1 ? 5 : 3)
    for round in 0..<rounds {
      // Each round starts with another engine, so that no engine always runs after the same one.
      for step in 0..<runs.count {
        let index = (round + step) % runs.count
        let engine = runs[index].engine
        let title = "\(engine.title), run \(round + 1) of \(rounds)"
        guard let report = try perform(engine, title: title) else {
          return Interruption.exitCode
        }
        runs[index].costs.append(report.costs)
        compare(report.findings, of: title)
      }
    }
    Machine.say("\n")
    try compareWithCksum()
    if Interruption.isRaised {
      sayStopped(during: "the comparison with cksum", report: nil)
      return Interruption.exitCode
    }
    return conclude()
  }

  /// Runs each live chapter in a process of its own and returns the exit code.
  private func goLive() throws(Complaint) -> Int32 {
    var code: Int32 = 0
    for chapter in LiveChapter.allCases where options.includes(.live(chapter)) {
      Machine.say("\n" + screen.bold(chapter.title) + "\n\n")
      let request = ChapterRequest(
        chapter: chapter, root: root, isPlain: !screen.isTerminal, megabytes: options.megabytes)
      let start = Machine.nanoseconds
      let child = try ChildProcess(
        running: "/proc/self/exe", request.arguments,
        reading: EngineRequest.reportDescriptor, isQuiet: false)
      if Interruption.isRaised {
        sayStopped(during: chapter.title, report: nil)
        return Interruption.exitCode
      }
      let seconds = Wording.seconds(Machine.seconds(since: start))
      if let signal = child.endingSignal {
        throw .failure("\(chapter.title): its process was ended by signal \(signal).")
      }
      Machine.say("  \(seconds), \(Wording.count(child.peakThreads, "thread")) at the most\n")
      if child.exitCode != 0 {
        Machine.put(Array("tour: \(chapter.title): see what is not so above.\n".utf8), to: 2)
        code = 1
      }
    }
    return code
  }

  /// Runs one engine in a process and prints the duration. Returns nil if interrupted.
  private func perform(_ engine: Engine, title: String) throws(Complaint) -> RunReport? {
    let request = EngineRequest(
      engine: engine, root: root, descriptorLimit: options.descriptorLimit,
      isPlain: !screen.isTerminal, progressTitle: title,
      expectedBytes: Int(clamping: expected.byteCount))
    // /proc/self/exe is the running program, even if its file has been replaced since.
    let child = try ChildProcess(
      running: "/proc/self/exe", request.arguments,
      reading: EngineRequest.reportDescriptor, isQuiet: false)
    screen.clearLine()
    let report = RunReport(encoded: child.output)
    if Interruption.isRaised {
      sayStopped(during: title, report: report)
      return nil
    }
    if let signal = child.endingSignal {
      throw .failure("\(title): its process was ended by signal \(signal).")
    }
    guard child.exitCode == 0, var report else {
      throw .failure("\(title): its process left with code \(child.exitCode ?? -1), no report.")
    }
    report.costs.peakThreads = max(report.costs.peakThreads, child.peakThreads)
    let seconds = Wording.right(Wording.seconds(report.costs.seconds), 9)
    let rate = Wording.bytes(Double(report.findings.byteCount) / max(report.costs.seconds, 1e-9))
    Machine.say("  \(Wording.left(title, 34))\(seconds)  \(Wording.right(rate, 8))/s\n")
    return report
  }

  private func describeFindings() {
    let files = Wording.count(expected.files.count, "file")
    let folders = Wording.count(expected.folders, "folder")
    let kinds = expected.kinds.prefix(4).map { "\(Wording.count($0.files)) \($0.kind)" }
    var text = "  \(files) in \(folders), \(Wording.bytes(expected.byteCount))"
    if !kinds.isEmpty { text += ": " + kinds.joined(separator: ", ") }
    if expected.others > 0 {
      text += "\n  links and other entries left alone: \(Wording.count(expected.others))"
    }
    Machine.say(text + "\n")
    for fault in expected.faults.prefix(3) {
      Machine.say("  cannot read \(fault.path): \(fault.reason)\n")
    }
    if expected.faults.count > 3 {
      Machine.say("  and \(Wording.count(expected.faults.count - 3)) more that cannot be read\n")
    }
    Machine.say("\n")
  }

  private mutating func compare(_ findings: Findings, of title: String) {
    let lines = FindingsDifference.lines(of: findings, from: expected)
    if lines.isEmpty { return }
    problems.append("\(title) found otherwise than the serial loop before it:")
    problems += lines.prefix(5).map { "  " + $0 }
    if lines.count > 5 { problems.append("  and \(Wording.count(lines.count - 5)) more") }
  }

  private mutating func compareWithCksum() throws(Complaint) {
    guard Spawn.exists("cksum") else {
      return Machine.say("  No cksum command here: not compared with it.\n")
    }
    if screen.isTerminal { Machine.say("  comparing with cksum") }
    let comparison = try CksumComparison(of: expected.files)
    screen.clearLine()
    if Interruption.isRaised { return }
    if !comparison.differences.isEmpty {
      let differing = Wording.count(comparison.differences.count, "file")
      problems.append("\(differing) with another checksum than the cksum command gives:")
      problems += comparison.differences.prefix(5).map { "  " + $0 }
      return
    }
    let sample = comparison.isComplete ? "all \(Wording.count(comparison.compared))" : "a sample"
    let size = comparison.isComplete ? "" : " of \(Wording.count(comparison.compared))"
    Machine.say("  \(screen.tick) the cksum command gives the same values for \(sample)\(size)\n")
    if comparison.unanswered > 0 {
      Machine.say("    (it could not read \(Wording.count(comparison.unanswered)))\n")
    }
  }

  private func conclude() -> Int32 {
    if problems.isEmpty {
      Machine.say("  \(screen.tick) all three engines found the same in every run\n")
    }
    let table = ResultTable(runs: runs, screen: screen)
    Machine.say("\n" + table.text + "\n")
    let seconds = Dictionary(
      runs.map { ($0.engine, $0.medianSeconds) }, uniquingKeysWith: { first, _ in first })
    if let ours = seconds[.grandCentral], let theirs = seconds[.dispatch], theirs > 0 {
      let ratio = Wording.decimal(ours / theirs, places: 2)
      Machine.say("  Grand Central takes \(ratio) of the time of the toolchain's Dispatch.\n")
    }
    if seconds[.serial] ?? 0 < 0.02 {
      Machine.say("  This is little work: a larger PATH gives times that mean more.\n")
    }
    if problems.isEmpty { return 0 }
    screen.showCursor()
    Machine.put(Array(("tour: " + problems.joined(separator: "\n") + "\n").utf8), to: 2)
    Machine.put(Array("tour: were files changed meanwhile? If not, this is a bug.\n".utf8), to: 2)
    return 1
  }

  private func sayStopped(during title: String, report: RunReport?) {
    var text = "  Stopped during \(title)"
    if let report {
      let files = Wording.count(report.findings.files.count, "file")
      let bytes = Wording.bytes(report.findings.byteCount)
      text += ": \(files) and \(bytes) done in \(Wording.seconds(report.costs.seconds))"
    }
    Machine.say(text + ".\n")
    let done = runs.filter { !$0.costs.isEmpty }.map { run in
      "\(run.engine.title) \(run.costs.count)"
    }
    if !done.isEmpty { Machine.say("  Runs finished before: \(done.joined(separator: ", ")).\n") }
  }
}
