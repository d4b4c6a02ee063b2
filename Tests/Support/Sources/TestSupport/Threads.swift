// POSIX threads for the tests, and this process's threads as /proc shows them.
import CFaults
import Glibc

/// A thread with a name of at most 15 bytes.
public final class TestThread: @unchecked Sendable {
  private var handle = pthread_t()
  private let finished = Latch()
  private let lock = Monitor()
  /// Guarded by the lock.
  private var isJoined = false

  public init(_ name: String = "test", _ body: @escaping @Sendable () -> Void) {
    let start = Start(name: name, finished: finished, body: body)
    let result = pthread_create(
      &handle, nil,
      { raw in
        let start = Unmanaged<Start>.fromOpaque(raw!).takeRetainedValue()
        faults_name_thread(start.name)
        start.body()
        start.finished.open()
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    guard result == 0 else { fatalError("pthread_create: \(result)") }
  }

  deinit { if !isJoined { pthread_detach(handle) } }

  /// Waits until the thread has ended, and with it what the engine does at a thread's end. Returns
  /// false on timeout.
  public func join(seconds: Int = deadlineSeconds) -> Bool {
    guard finished.wait(seconds: seconds) else { return false }
    return lock.withLock {
      if !isJoined { isJoined = faults_join(handle, Int32(seconds)) == 0 }
      return isJoined
    }
  }
}

private final class Start: Sendable {
  let name: String
  let finished: Latch
  let body: @Sendable () -> Void
  init(name: String, finished: Latch, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.finished = finished
    self.body = body
  }
}

/// Unblocks every signal for the calling thread. The toolchain's Dispatch threads, which run the
/// tests and whose masks new threads inherit, block most signals.
public func unblockSignals() { faults_unblock_signals() }

/// Sends a signal to the process; the main thread receives it unless it blocks the signal. The
/// thread sanitizer delays a signal until its thread calls an intercepted function, which the main
/// thread of a test run may never do. Under that sanitizer a new thread receives the signal.
public func signalProcess(_ number: Int32) {
  guard faults_is_thread_sanitized() else {
    kill(getpid(), number)
    return
  }
  let thread = TestThread("signalled") {
    unblockSignals()
    raise(number)
  }
  _ = thread.join()
}

/// Runs `body` on `count` threads at once and waits for all of them. Returns false on timeout.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Bool {
  let threads = (0..<count).map { number in TestThread("test-\(number)") { body(number) } }
  return threads.allSatisfy { $0.join() }
}

/// The calling thread's kernel id.
public func threadID() -> Int { Int(faults_thread_id()) }

public func isMainThread() -> Bool { faults_thread_id() == getpid() }

/// The calling thread's name.
public func threadName() -> String {
  let name = contents(of: "/proc/self/task/\(threadID())/comm") ?? ""
  return String(name.prefix { $0 != "\n" })
}

/// Seconds on the monotonic clock.
public func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Sleeps for the given time. Only for tests whose subject is a sleeping thread.
public func sleepMilliseconds(_ milliseconds: Int) {
  let end = monotonicSeconds() + Double(milliseconds) / 1000
  // A signal ends usleep early.
  while true {
    let rest = end - monotonicSeconds()
    if rest <= 0 { return }
    usleep(UInt32(max(1, rest * 1e6)))
  }
}

/// Spins on the CPU, without sleeping, until `isDone` returns true.
public func spin(until isDone: () -> Bool) {
  while !isDone() {}
}

/// The attributes of one thread, from /proc.
public struct ThreadEntry: Sendable {
  public let id: Int
  public let name: String
  public let voluntarySwitches: Int
  public let isAsleep: Bool
  /// Bit n - 1 is set when signal n is blocked.
  public let blockedSignals: UInt64
}

/// Lists all threads of this process.
public func processThreads() -> [ThreadEntry] {
  let ids = (namesInFolder("/proc/self/task") ?? []).compactMap { Int($0) }.sorted()
  // A thread may end between the two reads.
  return ids.compactMap { id in
    contents(of: "/proc/self/task/\(id)/status").map { threadEntry(id: id, status: $0) }
  }
}

private func threadEntry(id: Int, status: String) -> ThreadEntry {
  func field(_ name: String) -> String {
    for line in status.split(separator: "\n") where line.hasPrefix(name + ":") {
      return String(line.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " })
    }
    return ""
  }
  return ThreadEntry(
    id: id, name: field("Name"), voluntarySwitches: Int(field("voluntary_ctxt_switches")) ?? 0,
    isAsleep: field("State").hasPrefix("S"),
    blockedSignals: UInt64(field("SigBlk"), radix: 16) ?? 0)
}

/// Waits until all other threads of this process sleep, or until a test's deadline.
public func waitUntilOthersSleep() {
  let deadline = monotonicSeconds() + Double(deadlineSeconds)
  while monotonicSeconds() < deadline {
    let others = processThreads().filter { $0.id != threadID() }
    if others.allSatisfy(\.isAsleep) { return }
    sleepMilliseconds(1)
  }
}

/// Reads a whole small file; nil if it cannot be read.
public func contents(of path: String) -> String? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  return String(decoding: allBytes(from: descriptor), as: UTF8.self)
}

/// Reads to the end of the file.
func allBytes(from descriptor: Int32) -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return bytes }
    bytes.append(contentsOf: buffer[..<count])
  }
}

/// Returns what a pipe or a terminal has, as soon as there is something; `nil`: it has ended, or
/// `milliseconds` have passed. A signal, or a stop of the process, does not end the wait.
public func nextText(
  from descriptor: Int32, milliseconds: Int = deadlineSeconds * 1000
) -> String? {
  let deadline = monotonicSeconds() + Double(milliseconds) / 1000
  var buffer = [UInt8](repeating: 0, count: 8192)
  while true {
    let left = max(0, (deadline - monotonicSeconds()) * 1000)
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let found = poll(&ready, 1, Int32(clamping: Int(left.rounded(.up))))
    if found < 0 && errno == EINTR { continue }
    if found <= 0 { return nil }
    let count = read(descriptor, &buffer, buffer.count)
    if count < 0 && errno == EINTR { continue }
    // A character may be cut; the tests look for others.
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }
}

/// Makes a value again and again until it is as expected, for state of another process, which sends
/// no event. Returns the last value, which the test still has to check.
public func polled<Value>(
  until isExpected: (Value) -> Bool, _ make: () throws -> Value
) rethrows -> Value {
  let deadline = monotonicSeconds() + Double(deadlineSeconds)
  var value = try make()
  while !isExpected(value) && monotonicSeconds() < deadline {
    sleepMilliseconds(50)
    value = try make()
  }
  return value
}

/// Polls until `isTrue` returns true, for state that sends no event, such as another thread's
/// sleep. Returns false on timeout.
public func eventually(seconds: Int = deadlineSeconds, _ isTrue: () -> Bool) -> Bool {
  let deadline = monotonicSeconds() + Double(seconds)
  while !isTrue() {
    if monotonicSeconds() > deadline {
      if seconds >= deadlineSeconds { describeStandstill() }
      return false
    }
    sleepMilliseconds(1)
  }
  return true
}
