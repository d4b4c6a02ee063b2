// Purpose: runs a child process to its end, reads what it writes to one descriptor, and counts its
// threads. The parent stays single-threaded: it sleeps in poll(2).

import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct ChildProcess {
  /// What the child wrote.
  var output: [UInt8] = []
  /// The largest number of threads observed.
  var peakThreads = 0
  /// The exit code; nil if a signal ended the child.
  var exitCode: Int32?
  var endingSignal: Int32?

  /// Starts `executable`, looked up in PATH, and waits for its end.
  /// - Parameters:
  ///   - descriptor: the child's descriptor from which the output is read.
  ///   - isQuiet: whether standard input is empty and standard error is discarded.
  init(
    running executable: String, _ arguments: [Path], reading descriptor: Int32, isQuiet: Bool
  ) throws(Complaint) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw .failure("no pipe to a child process: \(String(cString: strerror(errno))).")
    }
    // pipe2(2) is not imported. No other thread of this process starts processes, so none can
    // inherit the descriptors before these calls.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let spawn = Spawn(executable, arguments).passing(ends[1], as: descriptor)
    let result = (isQuiet ? spawn.quiet : spawn).start()
    close(ends[1])
    guard case .success(let process) = result else {
      throw .failure("cannot start '\(executable)'.")
    }
    watch(process, reading: ends[0])
    reap(process)
  }

  /// Reads until the child closes its end of the pipe, and forwards a request to stop.
  private mutating func watch(_ process: pid_t, reading end: Int32) {
    var signalsSent = 0
    var patienceEnds: UInt64?
    while true {
      if Interruption.count > signalsSent {
        // A terminal signals the child too. A signal by kill(1) reaches only this process.
        kill(process, signalsSent == 0 ? Interruption.signal : SIGKILL)
        signalsSent = Interruption.count
        patienceEnds = patienceEnds ?? Machine.nanoseconds + 5_000_000_000
      }
      if let time = patienceEnds, Machine.nanoseconds > time { kill(process, SIGKILL) }
      var wish = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
      // The child's threads are counted every two milliseconds, at about 20 µs each time.
      if poll(&wish, 1, 2) > 0, !take(from: end) { return }
      peakThreads = max(peakThreads, Machine.threadCount(of: process) ?? 0)
    }
  }

  /// Reads the available bytes. Returns false at the end.
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
    switch Ending(status: status) {
    case .exited(let code): exitCode = code
    case .signalled(let number): endingSignal = number
    }
  }
}
