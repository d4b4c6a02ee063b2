// Other programs, started by posix_spawn(3).

import Glibc
import GrandCentral

enum Program {
  /// How a process ended.
  enum Ending: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case killed(signal: Int32)

    var description: String {
      switch self {
      case .exited(let code): "exit code \(code)"
      case .killed(let signal): "signal \(signal), \(String(cString: strsignal(signal)))"
      }
    }
  }

  /// The processes that have been started and not yet reaped.
  private static let running = Guarded<Set<pid_t>>([], label: "programs")

  /// Starts the program `words[0]`, which PATH may hold, and returns its process ID.
  /// - Parameters:
  ///   - input: the file to read as standard input; by default an empty one.
  ///   - output, errors: files to create or to empty; by default what the program prints is lost.
  static func start(
    _ words: [String], input: String = "/dev/null", output: String = "/dev/null",
    errors: String = "/dev/null"
  ) throws(Failure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
    for (number, path) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    // A program inherits ignored signals, and the tour ignores SIGINT and SIGTERM. It also inherits
    // what the starting thread blocks, and a worker blocks nearly all signals.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    errno = posix_spawnp(&process, words[0], &actions, &attributes, arguments, environ)
    guard errno == 0 else {
      throw .system("start '\(words[0])'", "Install it, or put its folder into PATH.")
    }
    running.sync { [process] in _ = $0.insert(process) }
    return process
  }

  /// Waits until the process has ended, and reaps it.
  static func wait(for process: pid_t) -> Ending {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    running.sync { _ = $0.remove(process) }
    // wait(2): the signal is in the low seven bits, the exit code in the next byte.
    return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
  }

  /// Runs a program to its end.
  static func run(_ words: String..., input: String = "/dev/null", output: String = "/dev/null")
    throws(Failure) -> Ending
  {
    wait(for: try start(words, input: input, output: output))
  }

  static func killAll() {
    running.sync { for process in $0 { kill(process, SIGKILL) } }
  }
}
