// Purpose: the host's side of a worker: starts it, sends requests, and starts another after a crash
// or a hang.

import FuzzKit
import Glibc

final class WorkerProcess {
  private let arguments: [String]
  private var process: pid_t = 0
  private var input: Int32 = -1
  private var output: Int32 = -1
  /// The worker's standard error, and the number of the program that it runs.
  private let errors = WorkerProcess.temporaryFile()
  private let note = WorkerProcess.temporaryFile()

  init(engine: String, fault: Fault?) {
    // The worker shares the file offset. With O_APPEND it writes at the new end after a truncation.
    _ = fcntl(errors, F_SETFL, O_APPEND)
    arguments = ["fuzz", "--worker", engine, fault?.rawValue ?? "none"]
  }

  deinit { stop() }

  /// Sends a request and waits for the reply. A worker that exits instead has crashed.
  func ask(_ request: Request, hangMilliseconds: Int) -> Reply {
    if process == 0 { start() }
    send(request.line(hangMilliseconds: hangMilliseconds) + "\n")
    var bytes: [UInt8] = []
    while true {
      if let reply = Reply(bytes: bytes) {
        if case .broken(_, .everythingEnds, _) = reply { stop() }
        return reply
      }
      guard let more = receive() else { return crash() }
      bytes += more
    }
  }

  func stop() {
    if process == 0 { return }
    close(input)
    close(output)
    kill(process, SIGKILL)
    _ = reap()
  }

  private func reap() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    process = 0
    return status
  }

  private func crash() -> Reply {
    close(input)
    close(output)
    let status = reap()
    let signal = status & 0x7f
    let end = signal == 0 ? "exited with code \(status >> 8 & 0xff)" : "ended by signal \(signal)"
    var index: Int64 = 0
    _ = pread(note, &index, 8, 0)
    let text = """
      Broken: \(Invariant.noCrash.rawValue).
      The process \(end). It said:
      \(said())
      """
    return .broken(index: Int(index), .noCrash, text: text)
  }

  /// Returns the last part of the worker's standard error.
  private func said() -> String {
    let length = lseek(errors, 0, SEEK_END)
    var buffer = [UInt8](repeating: 0, count: 4000)
    let count = pread(errors, &buffer, buffer.count, max(0, length - buffer.count))
    ftruncate(errors, 0)
    return count <= 0 ? "nothing" : String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  // MARK: Pipes

  private func start() {
    ftruncate(errors, 0)
    var toWorker: [Int32] = [0, 0]
    var fromWorker: [Int32] = [0, 0]
    guard pipe(&toWorker) == 0, pipe(&fromWorker) == 0 else { fatalError("pipe: \(errno)") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toWorker[0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, fromWorker[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    posix_spawn_file_actions_adddup2(&actions, note, noteDescriptor)
    for end in toWorker + fromWorker { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var words = arguments.map { strdup($0) } + [nil]
    // The host reports a crash; symbolication would take seconds.
    setenv("SWIFT_BACKTRACE", "enable=no", 1)
    let result = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, Self.environment)
    for word in words { free(word) }
    guard result == 0 else { fatalError("posix_spawn: \(result)") }
    close(toWorker[0])
    close(fromWorker[1])
    input = toWorker[1]
    output = fromWorker[0]
  }

  /// Swift 6 treats the global variable `environ` as shared state. The host has one thread.
  private static var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let symbol = dlsym(nil, "environ")
    return symbol?.assumingMemoryBound(
      to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self
    ).pointee
  }

  private func send(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      // If the worker is gone, the reader notices.
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  private func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(output, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      return count <= 0 ? nil : Array(buffer.prefix(count))
    }
  }

  private static func temporaryFile() -> Int32 {
    var name = Array("/tmp/fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { fatalError("mkstemp: \(errno)") }
    unlink(name)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }
}
