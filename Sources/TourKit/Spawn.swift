// Purpose: starts programs with posix_spawn(3), with given descriptors and with default signal
// settings, so that a child does not ignore the signals that its parent ignores.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A program to start, looked up in PATH.
public struct Spawn: Sendable {
  public let executable: String
  public let arguments: [Path]
  private var steps: [Step] = []
  private var settings: [(name: String, value: String)] = []

  private enum Step {
    case pass(Int32, as: Int32)
    case open(Path, flags: Int32, as: Int32)
  }

  public init(_ executable: String, _ arguments: [Path]) {
    self.executable = executable
    self.arguments = arguments
  }

  /// This executable, even if its file has been replaced since it was started.
  public static func itself(_ arguments: [Path]) -> Spawn { Spawn("/proc/self/exe", arguments) }

  /// Passes `descriptor` to the child as descriptor `number`.
  public func passing(_ descriptor: Int32, as number: Int32) -> Spawn {
    var next = self
    next.steps.append(.pass(descriptor, as: number))
    return next
  }

  /// Reads the child's standard input from `file`.
  public func reading(_ file: Path) -> Spawn {
    var next = self
    next.steps.append(.open(file, flags: O_RDONLY, as: STDIN_FILENO))
    return next
  }

  /// Writes the child's descriptor `number` to `file`, which is created or truncated.
  public func writing(_ number: Int32 = STDOUT_FILENO, to file: Path) -> Spawn {
    var next = self
    next.steps.append(.open(file, flags: O_WRONLY | O_CREAT | O_TRUNC, as: number))
    return next
  }

  /// Makes standard input empty and discards standard error.
  public var quiet: Spawn { reading(Path("/dev/null")).silencing(STDERR_FILENO) }

  /// Makes standard input empty and discards standard output and standard error.
  public var silent: Spawn { quiet.silencing(STDOUT_FILENO) }

  public func silencing(_ number: Int32) -> Spawn {
    var next = self
    next.steps.append(.open(Path("/dev/null"), flags: O_WRONLY, as: number))
    return next
  }

  /// Sets the environment variable `name` to `value` in the child.
  public func setting(_ name: String, _ value: String) -> Spawn {
    var next = self
    next.settings.append((name, value))
    return next
  }

  /// Starts the program.
  /// - Returns: the child's process ID, or the reason of the failure.
  public func start() -> Result<pid_t, FileFault> {
    #if canImport(Glibc)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t = .init()
      var attributes: posix_spawnattr_t = .init()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for step in steps {
      switch step {
      case .pass(let descriptor, let number):
        posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .open(let file, let flags, let number):
        _ = file.withCString {
          posix_spawn_file_actions_addopen(&actions, number, $0, flags, 0o600)
        }
      }
    }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    Self.setPlainSignals(&attributes)
    var words = ([Path(executable)] + arguments).map { word in word.withCString { strdup($0) } }
    words.append(nil)
    defer { for word in words { free(word) } }
    let variables = environment()
    defer { for variable in variables { free(variable) } }
    var process = pid_t()
    let code = posix_spawnp(&process, executable, &actions, &attributes, words, variables)
    return code == 0 ? .success(process) : .failure(FileFault(path: Path(executable), code: code))
  }

  /// Copies of this process's variables with the settings applied, followed by nil.
  private func environment() -> [UnsafeMutablePointer<CChar>?] {
    var variables: [UnsafeMutablePointer<CChar>?] = []
    var next = environ
    while let variable = next.pointee {
      if !settings.contains(where: { strncmp(variable, $0.name + "=", $0.name.utf8.count + 1) == 0 }
      ) {
        variables.append(strdup(variable))
      }
      next += 1
    }
    return variables + settings.map { strdup("\($0.name)=\($0.value)") } + [nil]
  }

  private static func setPlainSignals(_ attributes: inout posix_spawnattr_t) {
    // execve(2) keeps the signal mask and ignored signals; it resets only handlers.
    var set = sigset_t()
    sigemptyset(&set)
    posix_spawnattr_setsigmask(&attributes, &set)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&set, number) }
    posix_spawnattr_setsigdefault(&attributes, &set)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
  }

  /// Whether `command` is found in PATH.
  public static func exists(_ command: String) -> Bool {
    guard let search = getenv("PATH") else { return false }
    return Path(cString: search).bytes.split(separator: UInt8(ascii: ":")).contains { folder in
      Path(bytes: folder).appending(command).withCString { access($0, X_OK) } == 0
    }
  }
}

/// The way a process ended.
public enum Ending: Hashable, Sendable, CustomStringConvertible {
  case exited(Int32)
  case signalled(Int32)

  /// Decodes wait(2)'s status, whose macros are not imported: the signal is in the low seven bits,
  /// the exit code in the next byte.
  public init(status: Int32) {
    self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
  }

  public var description: String {
    switch self {
    case .exited(let code): "exit code \(code)"
    case .signalled(let number): "signal \(number), \(String(cString: strsignal(number)))"
    }
  }
}
