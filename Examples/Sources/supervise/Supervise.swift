// Keeps programs running: starts each command, and starts it again when it fails.
//
//   swift run -c release --package-path Examples supervise [--limit COUNT] 'COMMAND' …
//
// A process source tells when a child has ended; no thread waits for it. A child that fails is
// started again after a pause that doubles, at most COUNT times (5). SIGINT and SIGTERM end all
// children and then the supervisor. It ends by itself when no child is left.

import Glibc
import GrandCentral

@main struct Supervise {
  static func main() {
    var commands = Array(CommandLine.arguments.dropFirst())
    var limit = 5
    if commands.first == "--limit" {
      guard commands.count > 1, let count = Int(commands[1]), count >= 0 else { usage() }
      limit = count
      commands.removeFirst(2)
    }
    if commands.isEmpty { usage() }

    let supervisor = Supervisor(limit: limit)
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
      source.setEventHandler { supervisor.stop() }
      source.activate()
      sources.append(source)
    }
    supervisor.run(commands) { failures in exit(failures == 0 ? 0 : 1) }
    dispatchMain()
  }

  static func usage() -> Never {
    complain("usage: supervise [--limit COUNT] 'COMMAND' …")
    exit(2)
  }
}

// SAFETY: the queue guards all variables.
final class Supervisor: @unchecked Sendable {
  private let queue = DispatchQueue(label: "supervise")
  private let children = DispatchGroup()
  private let limit: Int
  private var running: [pid_t: any DispatchSourceProcess] = [:]
  private var isStopping = false
  private var failures = 0

  init(limit: Int) { self.limit = limit }

  /// Starts all commands, and calls `whenDone` with the number of those that failed for good.
  func run(_ commands: [String], whenDone: @escaping @Sendable (Int) -> Void) {
    for command in commands {
      children.enter()
      queue.async { [self] in start(command, attempt: 0) }
    }
    children.notify(queue: queue) { [self] in whenDone(failures) }
  }

  func stop() {
    queue.async { [self] in
      isStopping = true
      for child in running.keys { kill(child, SIGTERM) }
    }
  }

  private func start(_ command: String, attempt: Int) {
    if isStopping { return children.leave() }
    guard let child = spawn(command) else {
      complain("cannot start '\(command)': \(String(cString: strerror(errno)))")
      failures += 1
      return children.leave()
    }
    complain("started '\(command)' as \(child)")
    let source = DispatchSource.makeProcessSource(
      identifier: child, eventMask: .exit, queue: queue)
    source.setEventHandler { [self] in
      var status: Int32 = 0
      waitpid(child, &status, 0)
      running.removeValue(forKey: child)?.cancel()
      ended(command, status: status, attempt: attempt)
    }
    running[child] = source
    // A child that has ended already is reported too.
    source.activate()
  }

  private func ended(_ command: String, status: Int32, attempt: Int) {
    let wasKilled = status & 0x7f != 0
    let reason = wasKilled ? "signal \(status & 0x7f)" : "status \(status >> 8 & 0xff)"
    complain("'\(command)' ended with \(reason)")
    if status == 0 || isStopping { return children.leave() }
    if attempt == limit {
      complain("gave up on '\(command)'")
      failures += 1
      return children.leave()
    }
    queue.asyncAfter(deadline: .now() + .milliseconds(10 << attempt)) { [self] in
      start(command, attempt: attempt + 1)
    }
  }

  /// Starts `sh -c command` with the signal actions that programs expect.
  private func spawn(_ command: String) -> pid_t? {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGINT)
    sigaddset(&defaults, SIGTERM)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    let words = ["sh", "-c", command]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    errno = posix_spawnp(&child, "sh", nil, &attributes, &arguments, environ)
    return errno == 0 ? child : nil
  }

}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("supervise: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
