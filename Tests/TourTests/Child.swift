// Purpose: runs a program for a test and collects its output, without polling.

import Glibc
import Testing
import TourKit

/// A running program and its standard output and error.
struct Child: ~Copyable {
  struct End {
    let output: String
    let errors: String
    /// The exit code, or the negative number of the signal that ended the process.
    let code: Int32
  }

  private let process: pid_t
  private let output: Int32
  private let errors: Int32
  private var seen: [UInt8] = []

  /// Starts a program. Its descriptor 3 is /dev/null.
  init(_ program: Path, _ arguments: [Path]) throws {
    var outputEnds: [Int32] = [0, 0]
    var errorEnds: [Int32] = [0, 0]
    // Socket pairs, because pipe2(2) is not imported: only SOCK_CLOEXEC keeps the descriptors from
    // processes that other tests start at the same time.
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &outputEnds) == 0,
      socketpair(AF_UNIX, type, 0, &errorEnds) == 0
    else { throw MakingFailed(what: "a pair of sockets", code: errno) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, outputEnds[1], 1)
    posix_spawn_file_actions_adddup2(&actions, errorEnds[1], 2)
    posix_spawn_file_actions_addopen(&actions, 3, "/dev/null", O_WRONLY, 0)
    let words = ([program] + arguments).map { word in word.withCString { strdup($0) } }
    defer { for word in words { free(word) } }
    var started = pid_t()
    let code = posix_spawnp(
      &started, "\(program)", &actions, nil, words + [nil], environ)
    close(outputEnds[1])
    close(errorEnds[1])
    guard code == 0 else { throw MakingFailed(what: "\(program)", code: code) }
    process = started
    output = outputEnds[0]
    errors = errorEnds[0]
  }

  /// Starts the `tour` that was built beside these tests. env(1) sets its variables, because other
  /// tests share this process's.
  static func tour(
    _ arguments: [Path], temporary: MadeFolder? = nil, environment: [String] = []
  ) throws -> Child {
    let own = try #require(realpath("/proc/self/exe", nil))
    defer { free(own) }
    let tour = Path(cString: own).parent.appending("tour")
    let settings = environment + (temporary.map { ["TMPDIR=\($0.path)"] } ?? [])
    if settings.isEmpty { return try Child(tour, arguments) }
    return try Child(Path("/usr/bin/env"), settings.map { Path($0) } + [tour] + arguments)
  }

  /// Reads standard output until `text` or its end. Returns whether `text` came.
  mutating func waitForOutput(_ text: String) -> Bool {
    var seen = seen
    defer { self.seen = seen }
    while !String(decoding: seen, as: UTF8.self).contains(text) {
      if !take(from: output, into: &seen) { return false }
    }
    return true
  }

  func send(_ signal: Int32) {
    kill(process, signal)
  }

  /// Reads both outputs to their end and waits for the process.
  consuming func end() -> End {
    var seen = seen
    while take(from: output, into: &seen) {}
    // A test's child writes less to standard error than its socket holds, so it never blocks there.
    var complaints: [UInt8] = []
    while take(from: errors, into: &complaints) {}
    close(output)
    close(errors)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return End(
      output: String(decoding: seen, as: UTF8.self),
      errors: String(decoding: complaints, as: UTF8.self),
      code: status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F))
  }

  /// Reads available bytes. False at the end, or after two minutes without output, a failure.
  private func take(from descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
    var wish = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&wish, 1, 120_000) == 0 {
      Issue.record("the process says nothing more and does not end")
      kill(process, SIGKILL)
      return false
    }
    var piece = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &piece, piece.count)
    bytes.append(contentsOf: piece.prefix(max(0, count)))
    return count > 0 || count < 0 && errno == EINTR
  }
}
