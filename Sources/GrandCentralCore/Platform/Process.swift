// Room: Platform/Process. What /proc reports about this process and its threads. proc(5).
// Every read may fail (no /proc in a sandbox, no free descriptor); callers get `nil` or a default.
import CGrandCentralLinux

enum Process {
  /// The process's number, which is also its main thread's.
  static var identifier: UInt32 { gc_process_id() }

  /// The name of a thread of this process; "?" if it cannot be read.
  static func threadName(_ thread: UInt32) -> String {
    guard let name = readText("/proc/self/task/\(thread)/comm", atMost: 64) else { return "?" }
    return String(name.prefix { $0 != "\n" })
  }

  /// Names a thread of this process. Ignores failures.
  static func setThreadName(_ thread: UInt32, _ name: ThreadName) {
    let descriptor = open("/proc/self/task/\(thread)/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    name.withCString { _ = write(descriptor, $0, strlen($0)) }
  }

  /// The state of a thread, such as "S": proc(5), field 3 of `stat`; `nil` if it cannot be read.
  static func threadState(_ thread: UInt32) -> Unicode.Scalar? {
    withStatus(ofThread: thread) { $0.first.map { Unicode.Scalar($0) } }
  }

  /// Whether a thread has begun to end: proc(5), `flags`, field 9 of `stat`, has PF_EXITING. The
  /// kernel sets it before it ends a pthread_join(3), and the state "Z" only afterwards. `nil` if
  /// it cannot be read.
  static func isEnding(_ thread: UInt32) -> Bool? {
    withStatus(ofThread: thread) { status in
      let fields = status.split(separator: UInt8(ascii: " "), maxSplits: 7)
      guard fields.count > 6 else { return nil }
      return UInt32(String(decoding: fields[6], as: UTF8.self)).map { $0 & 4 != 0 }
    }
  }

  /// Whether the main thread has ended, or begun to: pthread_exit(3). Any thread.
  static var mainThreadHasEnded: Bool {
    // The second is for a main thread that does not know the engine: one that another thread has
    // loaded by dlopen(3).
    gc_main_has_ended() || gc_thread_id() != identifier && isEnding(identifier) == true
  }

  /// Passes a thread's `stat` from the state on.
  private static func withStatus<Result>(
    ofThread thread: UInt32, _ body: (Slice<UnsafeRawBufferPointer>) -> Result?
  ) -> Result? {
    withBytes(of: "/proc/self/task/\(thread)/stat", atMost: 512) { stat in
      // The name is in parentheses and may contain parentheses.
      stat.lastIndex(of: UInt8(ascii: ")")).flatMap { end in
        body(stat[(end + 1)...].drop { $0 == UInt8(ascii: " ") })
      }
    }
  }

  /// How often a thread has given up its CPU to wait for something, proc(5),
  /// `voluntary_ctxt_switches` of `status`; `nil` if it cannot be read.
  static func sleeps(ofThread thread: UInt32) -> UInt64? {
    withBytes(of: "/proc/self/task/\(thread)/status", atMost: 4096) {
      number("voluntary_ctxt_switches:", radix: 10, in: $0)
    }
  }

  /// The system call in which a thread sleeps and its first five arguments: proc_pid_syscall(5).
  /// The call is -1 if the thread sleeps outside of one, as in a page fault. `nil`: it runs, or
  /// that cannot be read.
  static func sleepingCall(ofThread thread: UInt32) -> (number: Int, arguments: [UInt])? {
    withBytes(of: "/proc/self/task/\(thread)/syscall", atMost: 256) { text in
      let fields = text.split(separator: UInt8(ascii: " "), maxSplits: 6).prefix(6)
      guard let first = fields.first, let number = Int(String(decoding: first, as: UTF8.self))
      else { return nil }
      // Each begins with "0x".
      let arguments = fields.dropFirst().map {
        UInt(String(decoding: $0.dropFirst(2), as: UTF8.self), radix: 16) ?? 0
      }
      return (number, arguments + [UInt](repeating: 0, count: 5 - arguments.count))
    }
  }

  /// Whether a thread sleeps in a call that changes the mappings of memory, such as munmap(2), and
  /// reads no file.
  static func changesMappings(_ thread: UInt32) -> Bool {
    guard let call = sleepingCall(ofThread: thread) else { return false }
    return gc_changes_mappings(call.number, call.arguments)
  }

  /// The number of threads, a main thread that has ended included; `nil` if it cannot be read.
  static var threadCount: UInt64? {
    withBytes(of: "/proc/self/status", atMost: 4096) { number("Threads:", radix: 10, in: $0) }
  }

  /// The signals that the main thread blocks, as a bit mask; `nil` if it cannot be read. That
  /// includes the moment in which that thread makes another one: the C library then blocks all
  /// signals in it, even those of its own faults, which no program blocks.
  static func mainThreadBlockedSignals() -> UInt64? {
    let mask = withBytes(of: "/proc/self/status", atMost: 4096) {
      number("SigBlk:", radix: 16, in: $0)
    }
    let faults: UInt64 = 1 << (UInt64(SIGILL) - 1) | 1 << (UInt64(SIGSEGV) - 1)
    return mask.flatMap { $0 & faults == faults ? nil : $0 }
  }

  /// The number in the line that begins with a label. It is read for each new thread, so this makes
  /// no `String` of the text.
  private static func number(
    _ label: StaticString, radix: Int, in bytes: UnsafeRawBufferPointer
  ) -> UInt64? {
    let label = UnsafeRawBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount)
    var rest = bytes[...]
    while !rest.starts(with: label) {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      rest = rest[(end + 1)...]
    }
    let digits = rest.dropFirst(label.count).prefix { $0 != UInt8(ascii: "\n") }
      .drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return UInt64(String(decoding: digits, as: UTF8.self), radix: radix)
  }

  /// The value of an environment variable.
  static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
