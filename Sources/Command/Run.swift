// grandcentral run: starts a program and prints its board when it hangs. The command has one thread
// and no signal handler: it blocks the signals that it forwards and takes them by sigtimedwait(2).
import Glibc
import GrandCentralInside
import GrandCentralPrimitives

struct RunOptions {
  var dumpAfter: Double?
  /// `nil`: 30 seconds; in the dump of --dump-after 5, which is the default of `dump`.
  var stuckAfter: Double?
  var dropIn = DropInChoice.installed
  var program: [String] = []

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let argument = rest.first, argument.hasPrefix("-") {
      rest.removeFirst()
      switch argument {
      case "--":
        program = Array(rest)
        if program.isEmpty { failUsage("run needs a program after '--'.") }
        return
      case "--help", "-h": showUsage(.run)
      case "--dump-after": dumpAfter = seconds(argument, rest.popFirst())
      case "--stuck-after": stuckAfter = seconds(argument, rest.popFirst())
      case "--dropin": dropIn = .folder(folder(argument, rest.popFirst()))
      case "--no-dropin": dropIn = .none
      default: failUsage("There is no option \(argument).")
      }
    }
    program = Array(rest)
    if program.isEmpty { failUsage("run needs a program.") }
  }
}

/// The number of an option; ends the command if it is none.
func seconds(_ option: String, _ text: String?) -> Double {
  guard let seconds = text.flatMap(Double.init), seconds >= 0, seconds < 1e9 else {
    failUsage("\(option) needs a number of seconds.")
  }
  return seconds
}

/// The folder of an option; ends the command if there is none.
func folder(_ option: String, _ text: String?) -> String {
  guard let text, !text.isEmpty, !text.hasPrefix("-") else {
    failUsage("\(option) needs a folder.")
  }
  return text
}

extension DropInChoice {
  /// The LD_LIBRARY_PATH for a program; ends the command if the library is missing. Says so if the
  /// program finds another library first.
  func searchPathOrFail(for program: String) -> String? {
    let path: String?
    do { path = try searchPath(for: program) } catch { failUsage("\(error)") }
    if path != nil, let other = Self.libraryBefore(searchPathOf: program) {
      printError(
        "'\(program)' finds \(other) first: its RPATH goes before LD_LIBRARY_PATH. Link it with "
          + "-Wl,--enable-new-dtags, or remove the entry: patchelf --remove-rpath.")
    }
    return path
  }
}

/// Ends the command because the program could not be started, with a shell's status.
func failToStart(_ program: String, _ error: StartedProgram.SpawnError) -> Never {
  printError("\(program): \(String(cString: strerror(error.errno)))")
  exit(error.errno == ENOENT ? 127 : 126)
}

/// Ends the command as the program has ended: by a signal without a core file of its own.
func endLike(_ end: StartedProgram.End) -> Never {
  let number: Int32
  switch end {
  case .exited(let status): exit(status)
  case .killed(let signal): number = signal
  }
  var none = rlimit(rlim_cur: 0, rlim_max: 0)
  setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  signal(number, SIG_DFL)
  var only = sigset_t()
  sigemptyset(&only)
  sigaddset(&only, number)
  sigprocmask(SIG_UNBLOCK, &only, nil)
  kill(getpid(), number)
  exit(128 + number)
}

struct Run {
  private let options: RunOptions
  private let child: Supervised
  private let signals: sigset_t
  private let usualMask: sigset_t

  private static let forwarded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH]
  /// Signals with which a person or a supervisor ends a program that hangs. After another one, the
  /// program has reported its own error.
  private static let endings = [SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM, SIGXCPU]

  /// Runs the program. Ends the command as the program ends.
  static func perform(_ options: RunOptions) -> Never {
    let searchPath = options.dropIn.searchPathOrFail(for: options.program[0])
    // An inherited SIG_IGN would hide how the program ended: wait(2).
    signal(SIGCHLD, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in forwarded + [SIGCHLD] { sigaddset(&signals, number) }
    var usual = sigset_t()
    sigprocmask(SIG_BLOCK, &signals, &usual)
    let end: StartedProgram.End
    do {
      let child = try Supervised(options.program, searchPath: searchPath, signalMask: usual)
      end = Run(options: options, child: child, signals: signals, usualMask: usual).supervise()
    } catch {
      failToStart(options.program[0], error)
    }
    endLike(end)
  }

  private func supervise() -> StartedProgram.End {
    let begin = Clock.monotonicNanoseconds()
    let stuckAfter = UInt64((options.stuckAfter ?? 30) * 1e9)
    let interval = min(max(stuckAfter / 3, 200_000_000), 10_000_000_000)
    var dumpAt = options.dumpAfter.map { begin + UInt64($0 * 1e9) } ?? .max
    var lookAt = begin + interval
    while true {
      if let end = child.end() {
        if case .killed(let number) = end, Self.endings.contains(number) {
          show(child.lastDumps(stuckAfter: stuckAfter), "hung when it was killed")
        }
        return end
      }
      forward(until: min(dumpAt, lookAt))
      let now = Clock.monotonicNanoseconds()
      if now >= dumpAt {
        dumpAt = .max
        // As `dump` has it: after some seconds no wait can be half a minute old.
        let dumps = child.dumps(stuckAfter: UInt64((options.stuckAfter ?? 5) * 1e9))
        show(dumps, "still runs after \(options.dumpAfter ?? 0) s")
        if dumps.isEmpty {
          printError(
            """
            '\(options.program[0])' still runs after \(options.dumpAfter ?? 0) s, and has no \
            board: it does not run on Grand \
            Central, or has not used a queue yet. --dropin FOLDER names a drop-in library.
            """)
        }
      }
      if now >= lookAt {
        show(child.newlyStuck(stuckAfter: stuckAfter), "is stuck")
        lookAt = now + interval
      }
    }
  }

  /// Waits for a signal or for the time, and forwards the signal.
  private func forward(until deadline: UInt64) {
    let now = Clock.monotonicNanoseconds()
    let left = deadline > now ? min(deadline - now, 3_600_000_000_000) : 0
    waitForSignal(signals, nanoseconds: left).forward(to: child.program)
  }

  private func show(_ dumps: [Dump], _ reason: String) {
    let style = Style(isColoured: isColoured(STDERR_FILENO))
    for dump in dumps {
      let head = "grandcentral: process \(dump.analysis.snapshot.process) \(reason).\n"
      // In one write: the program may print at the same time, to the same pipe.
      _ = writeAll(head + dump.text(all: false, style: style), to: STDERR_FILENO)
    }
  }
}
