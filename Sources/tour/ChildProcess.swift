// Purpose: runs one child process to its end, taking in what it writes on one descriptor and
// watching its threads meanwhile. The parent has no threads of its own: it sleeps in poll(2).

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct ChildProcess {
  /// What the child wrote.
  var output: [UInt8] = []
  /// The most threads it was seen with.
  var peakThreads = 0
  /// Its exit code; nil when a signal ended it.
  var exitCode: Int32?
  var endingSignal: Int32?

  /// Starts `executable`, looked up as a shell would, and waits for its end.
  /// - Parameters:
  ///   - descriptor: the child's descriptor that is read.
  ///   - isQuiet: whether its standard input and error lead nowhere.
  init(
    running executable: String, _ arguments: [Path], reading descriptor: Int32, isQuiet: Bool
  ) throws(Complaint) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw .failure("no pipe to a child process: \(String(cString: strerror(errno))).")
    }
    // pipe2(2) is not imported. Nothing else starts processes here, so nobody can get between.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let result = Self.spawn(
      executable, arguments, output: ends[1], as: descriptor, isQuiet: isQuiet)
    close(ends[1])
    guard case .success(let process) = result else {
      throw .failure("cannot start '\(executable)'.")
    }
    watch(process, reading: ends[0])
    reap(process)
  }

  /// Whether a shell would find this command.
  static func exists(_ command: String) -> Bool {
    guard let search = getenv("PATH") else { return false }
    return Path(cString: search).bytes.split(separator: UInt8(ascii: ":")).contains { folder in
      Path(bytes: folder).appending(command).withCString { access($0, X_OK) } == 0
    }
  }

  private static func spawn(
    _ executable: String, _ arguments: [Path], output: Int32, as descriptor: Int32, isQuiet: Bool
  ) -> Result<pid_t, FileFault> {
    #if canImport(Glibc)
      var actions = posix_spawn_file_actions_t()
    #else
      var actions: posix_spawn_file_actions_t = .init()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, descriptor)
    if isQuiet {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    var words = ([Path(executable)] + arguments).map { word in word.withCString { strdup($0) } }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    let code = posix_spawnp(&process, executable, &actions, nil, words, environ)
    return code == 0 ? .success(process) : .failure(FileFault(path: Path(executable), code: code))
  }

  /// Reads until the child closes its end, and passes on a wish to stop.
  private mutating func watch(_ process: pid_t, reading end: Int32) {
    var signalsSent = 0
    var patienceEnds: UInt64?
    while true {
      if Interruption.count > signalsSent {
        // At a terminal the child has had its own; from kill(1) only we have.
        kill(process, signalsSent == 0 ? Interruption.signal : SIGKILL)
        signalsSent = Interruption.count
        patienceEnds = patienceEnds ?? Machine.nanoseconds + 5_000_000_000
      }
      if let time = patienceEnds, Machine.nanoseconds > time { kill(process, SIGKILL) }
      var wish = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
      // The child's threads are counted every two milliseconds, at some twenty microseconds each.
      if poll(&wish, 1, 2) > 0, !take(from: end) { return }
      peakThreads = max(peakThreads, Machine.threadCount(of: process) ?? 0)
    }
  }

  /// Reads what is there. False at the end.
  private mutating func take(from end: Int32) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
      let count = read(end, buffer.baseAddress, buffer.count)
      if count > 0 { output.append(contentsOf: buffer[..<count]) }
      return count > 0 || count < 0 && errno == EINTR
    }
  }

  private mutating func reap(_ process: pid_t) {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    // wait(2)'s macros are not imported: the low seven bits are the signal, the next byte the code.
    if status & 0x7F == 0 {
      exitCode = status >> 8 & 0xFF
    } else {
      endingSignal = status & 0x7F
    }
  }
}
