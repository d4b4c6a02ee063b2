// The verbs `record`, `report` and `timeline`.
import Glibc
import GrandCentralCore
import GrandCentralInside

/// Arguments of `record`.
private struct RecordOptions {
  var process: Int?
  var program: [String] = []
  var output = "grandcentral.gcrecord"
  var seconds: Double?
  var level = EventLevel.items
  var dropIn = DropInChoice.installed

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--":
        program = Array(rest)
        rest = []
      case "--help", "-h": showUsage(.record)
      case "-o":
        guard let path = rest.popFirst() else { failUsage("-o needs a file.") }
        output = path
      case "--seconds":
        guard let given = rest.popFirst().flatMap(Double.init), given > 0, given < 1e9 else {
          failUsage("--seconds needs a number of seconds.")
        }
        seconds = given
      case "--sampled": level = .sampled
      case "--dropin": dropIn = .folder(folder(argument, rest.popFirst()))
      case "--no-dropin": dropIn = .none
      case "--origins": level = .origins
      case _ where argument.hasPrefix("-"): failUsage("There is no option \(argument).")
      case _ where process == nil:
        guard let given = Int(argument), given > 0, given < Int(Int32.max) else {
          failUsage("'\(argument)' is no process id.")
        }
        process = given
      default: failUsage("record takes one process, or -- and a program.")
      }
    }
    guard (process == nil) != program.isEmpty else {
      failUsage("record needs a process, or -- and a program.")
    }
  }
}

/// Blocks the signals that end a recording, so that they can be waited for. Returns them, and the
/// signals that were blocked before.
private func blockEndSignals() -> (signals: sigset_t, usual: sigset_t) {
  // An inherited SIG_IGN would hide how the program ended: wait(2).
  signal(SIGCHLD, SIG_DFL)
  var signals = sigset_t()
  var usual = sigset_t()
  sigemptyset(&signals)
  for signal in [SIGINT, SIGTERM, SIGCHLD] { sigaddset(&signals, signal) }
  sigprocmask(SIG_BLOCK, &signals, &usual)
  return (signals, usual)
}

func record(_ arguments: [String]) -> Int32 {
  let options = RecordOptions(arguments)
  do {
    var session = try RecordSession(options)
    if let end = try session.run() { endLike(end) }
    return 0
  } catch let error as StartedProgram.SpawnError {
    failToStart(options.program[0], error)
  } catch {
    printError("\(error)")
    return 2
  }
}

/// A recording of a process or of a program that this command starts.
private struct RecordSession {
  let options: RecordOptions
  let signals: sigset_t
  let child: StartedProgram?
  /// How the child ended.
  var end: StartedProgram.End?

  init(_ options: RecordOptions) throws(StartedProgram.SpawnError) {
    self.options = options
    let blocked = blockEndSignals()
    signals = blocked.signals
    child =
      options.program.isEmpty
      ? nil
      : try StartedProgram(
        options.program,
        environment: [
          "GRANDCENTRAL_RECORD": "\(options.level)",
          "LD_LIBRARY_PATH": options.dropIn.searchPathOrFail(for: options.program[0]),
        ],
        signalMask: blocked.usual)
  }

  /// Returns how the child ended; `nil`: there is none, or it made no board.
  mutating func run() throws -> StartedProgram.End? {
    guard let board = try openBoard() else {
      printError("'\(options.program[0])' has ended without using a queue of Grand Central.")
      return end
    }
    let recorder = try Recorder(board: board, output: options.output)
    try recorder.start(options.level, isFresh: child != nil)
    if child == nil && options.seconds == nil { printError("Recording. Press ^C to end.") }
    try collect(recorder)
    try recorder.stop()
    printError(
      "\(recorder.bytesWritten) bytes. See 'grandcentral report \(options.output)'.")
    return end
  }

  /// Opens the board of the process; waits until a child has made it. `nil`: the child has ended.
  private mutating func openBoard() throws -> BoardFile? {
    guard let child else {
      return try BoardFile.open(process: options.process ?? 0, forWriting: true)
    }
    while true {
      if let board = try? BoardFile.open(process: child.process, forWriting: true) {
        // The header is being written.
        if (try? Snapshot(board)) != nil { return board }
      }
      end = child.end()
      if end != nil { return nil }
      waitForSignal(signals, nanoseconds: 500_000).forward(to: child)
    }
  }

  /// Collects until the process ends, the time is over, or a signal ends the recording.
  private mutating func collect(_ recorder: Recorder) throws {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let begin = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    while true {
      let signal = waitForSignal(signals, nanoseconds: 5_000_000)
      try recorder.collect()
      if let child {
        end = child.end()
        if end != nil { return }
        signal.forward(to: child)
      } else {
        if signal.number == SIGINT || signal.number == SIGTERM { return }
        if !Processes.isAlive(options.process ?? 0) { return }
      }
      clock_gettime(CLOCK_MONOTONIC, &now)
      let passed = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - begin
      if let seconds = options.seconds, passed >= seconds { return }
    }
  }
}

func report(_ arguments: [String]) -> Int32 {
  if arguments.contains("--help") || arguments.contains("-h") { showUsage(.report) }
  let paths = arguments.filter { $0 != "--json" }
  if let option = paths.first(where: { $0.hasPrefix("-") }) {
    failUsage("There is no option \(option).")
  }
  guard paths.count == 1 else { failUsage("report takes one file.") }
  do {
    let report = Report(try Recording(path: paths[0]))
    printAll(arguments.contains("--json") ? report.json() : report.text())
    return report.findings.isEmpty ? 0 : 1
  } catch {
    printError("\(error)")
    return 2
  }
}

func timeline(_ arguments: [String]) -> Int32 {
  var paths: [String] = []
  var page: String?
  var trace: String?
  var rest = arguments[...]
  while let argument = rest.popFirst() {
    switch argument {
    case "--help", "-h": showUsage(.timeline)
    case "-o", "--output":
      page = rest.popFirst()
      if page == nil { failUsage("\(argument) needs a file to write.") }
    case "--perfetto":
      trace = rest.popFirst()
      if trace == nil { failUsage("--perfetto needs a file to write.") }
    case _ where argument.hasPrefix("-"): failUsage("There is no option \(argument).")
    default: paths.append(argument)
    }
  }
  guard paths.count == 1, page != nil || trace != nil else {
    failUsage("timeline takes one file, and -o or --perfetto with a file to write.")
  }
  do {
    let recording = try Recording(path: paths[0])
    if let page {
      try writeFile(page, TimelinePage(Report(recording)).bytes)
      printError("Open \(page) in a browser.")
    }
    if let trace { try writeFile(trace, PerfettoFile(recording).bytes) }
    return 0
  } catch {
    printError("\(error)")
    return 2
  }
}

private func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  guard descriptor >= 0, writeFully(bytes, to: descriptor) else {
    throw InsideError("\(path): \(String(cString: strerror(errno)))")
  }
  close(descriptor)
}
