import Glibc
// The verbs `record`, `report` and `timeline`.
import GrandCentralCore
import GrandCentralInside

/// Arguments of `record`.
private struct RecordOptions {
  var process: Int?
  var program: [String] = []
  var output = "grandcentral.gcrecord"
  var seconds: Double?
  var level = EventLevel.items

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--":
        program = Array(rest)
        rest = []
      case "-o":
        guard let path = rest.popFirst() else { failUsage("-o needs a file.") }
        output = path
      case "--seconds":
        guard let given = rest.popFirst().flatMap(Double.init), given > 0, given < 1e9 else {
          failUsage("--seconds needs a number of seconds.")
        }
        seconds = given
      case "--sampled": level = .sampled
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

/// Blocks the signals that end a recording, so that they can be waited for.
private func blockEndSignals() -> sigset_t {
  var signals = sigset_t()
  sigemptyset(&signals)
  for signal in [SIGINT, SIGTERM, SIGCHLD] { sigaddset(&signals, signal) }
  sigprocmask(SIG_BLOCK, &signals, nil)
  return signals
}

/// Starts a program with the given variable in its environment.
private func start(_ program: [String], recording level: EventLevel) throws -> pid_t {
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  setenv("GRANDCENTRAL_RECORD", level == .items ? "items" : "sampled", 1)
  var words: [UnsafeMutablePointer<CChar>?] = program.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var child: pid_t = 0
  let error = posix_spawnp(&child, words[0] ?? strdup(""), nil, &attributes, &words, environ)
  guard error == 0 else {
    throw InsideError("\(program[0]): \(String(cString: strerror(error)))")
  }
  return child
}

/// Waits until a signal comes or the time is over. Returns the signal; 0: none came.
private func waitForSignal(_ signals: inout sigset_t, nanoseconds: Int) -> Int32 {
  var limit = timespec(tv_sec: 0, tv_nsec: nanoseconds)
  return max(0, sigtimedwait(&signals, nil, &limit))
}

/// How a child ended, as a shell shows it; `nil`: it runs.
private func exitStatus(of child: pid_t) -> Int32? {
  var status: Int32 = 0
  guard waitpid(child, &status, WNOHANG) == child else { return nil }
  return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
}

func record(_ arguments: [String]) -> Int32 {
  let options = RecordOptions(arguments)
  do {
    var session = try RecordSession(options)
    return try session.run()
  } catch {
    printError("\(error)")
    return 2
  }
}

/// A recording of a process or of a program that this command starts.
private struct RecordSession {
  let options: RecordOptions
  var signals: sigset_t
  let child: pid_t?
  /// How the child ended.
  var status: Int32?

  init(_ options: RecordOptions) throws {
    self.options = options
    signals = blockEndSignals()
    child =
      options.program.isEmpty ? nil : try start(options.program, recording: options.level)
  }

  mutating func run() throws -> Int32 {
    guard let board = try openBoard() else {
      printError("'\(options.program[0])' has ended without using a queue of Grand Central.")
      return status ?? 2
    }
    let recorder = try Recorder(board: board, output: options.output)
    try recorder.start(options.level, isFresh: child != nil)
    if child == nil && options.seconds == nil { printError("Recording. Press ^C to end.") }
    try collect(recorder)
    try recorder.stop()
    printError(
      "\(recorder.bytesWritten) bytes. See 'grandcentral report \(options.output)'.")
    return status ?? 0
  }

  /// Opens the board of the process; waits until a child has made it. `nil`: the child has ended.
  private mutating func openBoard() throws -> BoardFile? {
    guard let child else {
      return try BoardFile.open(process: options.process ?? 0, forWriting: true)
    }
    while true {
      if let board = try? BoardFile.open(process: Int(child), forWriting: true) {
        // The header is being written.
        if (try? Snapshot(board)) != nil { return board }
      }
      status = exitStatus(of: child)
      if status != nil { return nil }
      let signal = waitForSignal(&signals, nanoseconds: 500_000)
      if signal == SIGINT || signal == SIGTERM { kill(child, signal) }
    }
  }

  /// Collects until the process ends, the time is over, or a signal ends the recording.
  private mutating func collect(_ recorder: Recorder) throws {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let begin = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    while true {
      let signal = waitForSignal(&signals, nanoseconds: 5_000_000)
      try recorder.collect()
      if let child {
        status = exitStatus(of: child)
        if status != nil { return }
        // The child gets the signal of the terminal too, and may take it as it likes.
        if signal == SIGTERM { kill(child, SIGTERM) }
      } else {
        if signal == SIGINT || signal == SIGTERM { return }
        if kill(pid_t(options.process ?? 0), 0) != 0 && errno == ESRCH { return }
      }
      clock_gettime(CLOCK_MONOTONIC, &now)
      let passed = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - begin
      if let seconds = options.seconds, passed >= seconds { return }
    }
  }
}

func report(_ arguments: [String]) -> Int32 {
  let paths = arguments.filter { $0 != "--json" }
  if let option = paths.first(where: { $0.hasPrefix("-") }) {
    failUsage("There is no option \(option).")
  }
  guard paths.count == 1 else { failUsage("report takes one file.") }
  do {
    let report = Report(try Recording(path: paths[0]))
    printAll(arguments.contains("--json") ? report.json() : report.text())
    return report.hotQueues.isEmpty ? 0 : 1
  } catch {
    printError("\(error)")
    return 2
  }
}

func timeline(_ arguments: [String]) -> Int32 {
  var paths: [String] = []
  var output: String?
  var rest = arguments[...]
  while let argument = rest.popFirst() {
    switch argument {
    case "--perfetto":
      output = rest.popFirst()
      if output == nil { failUsage("--perfetto needs a file to write.") }
    case _ where argument.hasPrefix("-"): failUsage("There is no option \(argument).")
    default: paths.append(argument)
    }
  }
  guard paths.count == 1, let output else {
    failUsage("timeline takes one file, and --perfetto with a file to write.")
  }
  do {
    let trace = PerfettoFile(try Recording(path: paths[0]))
    let descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0, writeFully(trace.bytes, to: descriptor) else {
      throw InsideError("\(output): \(String(cString: strerror(errno)))")
    }
    close(descriptor)
    return 0
  } catch {
    printError("\(error)")
    return 2
  }
}
