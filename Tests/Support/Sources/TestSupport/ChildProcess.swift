// Runs a program and collects its output. Probes are small programs of this package that test what
// the test process cannot: the main queue, thread counts, idle wake-ups, CPU masks.
import CFaults
import Glibc

public struct ChildResult: Sendable {
  /// The exit status; nil if a signal ended the process.
  public let status: Int32?
  public let signal: Int32?
  public let output: String
  public let errors: String

  public var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Returns the rest of the first line that starts with `name=`.
  public func value(_ name: String) -> String? {
    lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }

  public func number(_ name: String) -> Int? { value(name).flatMap { Int($0) } }
}

/// The path of the running program.
public var ownProgram: String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
  return String(
    decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The folder of this build's programs.
public var buildFolder: String {
  let path = ownProgram
  return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
}

/// Runs one scenario of a probe of this package.
public func runProbe(
  _ name: String, _ scenario: String, _ arguments: [String] = [],
  environment: [String: String] = [:], launcher: [String] = [], seconds: Int = deadlineSeconds
) -> ChildResult {
  runChild(
    launcher + ["\(buildFolder)/\(name)", scenario] + arguments, environment: environment,
    seconds: seconds)
}

/// Runs a program, found by its path or on PATH, and kills it after `seconds`. The program starts
/// with no signal blocked, unless it `inheritsSignalMask` from the calling thread.
public func runChild(
  _ arguments: [String], environment: [String: String] = [:], inheritsSignalMask: Bool = false,
  seconds: Int = deadlineSeconds
) -> ChildResult {
  let output = makePipe()
  let errors = makePipe()
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO)
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO)

  // The toolchain's Dispatch threads run the tests and block most signals.
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  if !inheritsSignalMask {
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  }

  var process = pid_t()
  var argv = arguments.map { strdup($0) } + [nil]
  var envp = childEnvironment(environment).map { strdup($0) } + [nil]
  let spawned = posix_spawnp(&process, arguments[0], &actions, &attributes, &argv, &envp)
  for pointer in argv + envp { free(pointer) }
  close(output.write)
  close(errors.write)
  defer {
    close(output.read)
    close(errors.read)
  }
  guard spawned == 0 else {
    return ChildResult(
      status: 127, signal: nil, output: "", errors: "posix_spawnp \(arguments[0]): \(spawned)")
  }
  return collect(process, output: output.read, errors: errors.read, seconds: seconds)
}

/// Starts a program with no signal blocked, which reads `input` and writes to `output` and
/// `errors`. The caller must wait for it.
public func startChild(
  _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil
) -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
  if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
  if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  var process = pid_t()
  var argv = arguments.map { strdup($0) } + [nil]
  var envp = childEnvironment([:]).map { strdup($0) } + [nil]
  let error = posix_spawnp(&process, arguments[0], &actions, &attributes, &argv, &envp)
  for pointer in argv + envp { free(pointer) }
  guard error == 0 else { fatalError("posix_spawnp \(arguments[0]): \(error)") }
  return process
}

/// Waits for a child. Returns its exit status, or the number of the signal that ended it.
public func waitFor(_ child: pid_t) -> (status: Int32?, signal: Int32?) {
  var state: Int32 = 0
  var result: pid_t
  repeat { result = waitpid(child, &state, 0) } while result < 0 && errno == EINTR
  guard result == child else { return (nil, nil) }
  let signal = state & 0x7f
  return signal == 0 ? (state >> 8 & 0xff, nil) : (nil, signal)
}

private func collect(
  _ process: pid_t, output: Int32, errors: Int32, seconds: Int
) -> ChildResult {
  let outputBytes = Box<[UInt8]>([])
  let errorBytes = Box<[UInt8]>([])
  let outputReader = TestThread("read-output") { outputBytes.value = allBytes(from: output) }
  let errorReader = TestThread("read-errors") { errorBytes.value = allBytes(from: errors) }
  // The pipes close when the process ends. A process that exceeds the limit is killed and reported
  // as ended by a signal.
  if !outputReader.join(seconds: seconds) { kill(process, SIGKILL) }
  _ = errorReader.join() && outputReader.join()
  var state: Int32 = 0
  while waitpid(process, &state, 0) < 0 && errno == EINTR {}
  let signal = state & 0x7f
  return ChildResult(
    status: signal == 0 ? (state >> 8) & 0xff : nil, signal: signal == 0 ? nil : signal,
    output: String(decoding: outputBytes.value, as: UTF8.self),
    errors: String(decoding: errorBytes.value, as: UTF8.self))
}

/// Makes a pipe whose ends no child inherits, unless startChild() passes one on: another test may
/// start a child at any time.
public func makePipe() -> (read: Int32, write: Int32) {
  var ends: [Int32] = [0, 0]
  let error = faults_make_pipe(&ends, true)
  guard error == 0 else { fatalError("pipe2: errno \(error)") }
  return (ends[0], ends[1])
}

private func childEnvironment(_ extra: [String: String]) -> [String] {
  var variables: [String: String] = [:]
  // Swift 6 treats the global `environ` as unsafe shared state; /proc has the same text.
  for text in (contents(of: "/proc/self/environ") ?? "").split(separator: "\0") {
    guard let separator = text.firstIndex(of: "=") else { continue }
    variables[String(text[..<separator])] = String(text[text.index(after: separator)...])
  }
  // An expected crash needs no symbolised backtrace.
  variables["SWIFT_BACKTRACE"] = "enable=no"
  variables.merge(extra) { $1 }
  return variables.map { "\($0.key)=\($0.value)" }
}
