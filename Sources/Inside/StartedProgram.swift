// A program that the command starts, for `run` and `record`: how it starts, and how it ended.
import Glibc

/// A child process.
package struct StartedProgram {
  /// How the child ended.
  package enum End: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  package struct SpawnError: Error { package let errno: Int32 }

  package let process: Int

  /// Starts a program, found by its path or on PATH.
  ///
  /// - Parameters:
  ///   - arguments: the program and its arguments.
  ///   - environment: variables of the environment to set or replace; without a value: as they
  ///     are.
  ///   - signalMask: the signals that the program blocks.
  package init(
    _ arguments: [String], environment: [String: String?], signalMask: sigset_t
  ) throws(SpawnError) {
    var variables = (readText("/proc/self/environ") ?? "").split(separator: "\0").map(String.init)
    for case (let name, let value?) in environment {
      variables.removeAll { $0.hasPrefix("\(name)=") }
      variables.append("\(name)=\(value)")
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = signalMask
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var argv = arguments.map { strdup($0) } + [nil]
    var envp = variables.map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var child = pid_t()
    let error = posix_spawnp(&child, arguments[0], nil, &attributes, &argv, &envp)
    process = Int(child)
    if error != 0 { throw SpawnError(errno: error) }
  }

  /// Returns how the child ended; `nil` if it still runs. After it has returned an end, the process
  /// is gone: do not call again.
  package func end() -> End? {
    var state: Int32 = 0
    guard waitpid(pid_t(process), &state, WNOHANG) == pid_t(process) else { return nil }
    let signal = state & 0x7f
    return signal == 0 ? .exited(state >> 8 & 0xff) : .killed(signal: signal)
  }
}
