// Room: Kernel/Process. What /proc says of this process and its threads. proc(5).
// Every read may fail (no /proc in a sandbox, no descriptor left); callers get nil or a plain default.
import CLinux

enum Process {
  /// Its number, which is its main thread's too.
  static var identifier: UInt32 { gc_process_id() }

  /// The name of a thread of this process.
  static func threadName(_ thread: UInt32) -> String {
    guard let name = readText("/proc/self/task/\(thread)/comm", atMost: 64) else { return "?" }
    return String(name.prefix { $0 != "\n" })
  }

  /// Names a thread of this process. What cannot be written is let be.
  static func setThreadName(_ thread: UInt32, _ name: ThreadName) {
    let descriptor = open("/proc/self/task/\(thread)/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    name.withCString { _ = write(descriptor, $0, strlen($0)) }
  }

  /// What a thread is doing: proc(5), field 3 of `stat`. `nil` when it cannot be told.
  static func threadState(_ thread: UInt32) -> Character? {
    guard let stat = readText("/proc/self/task/\(thread)/stat", atMost: 512),
      // The name is in parentheses and may itself contain them.
      let end = stat.lastIndex(of: ")")
    else { return nil }
    return stat[stat.index(after: end)...].first { $0 != " " }
  }

  /// The signals that the main thread blocks, as a bit mask. `nil` when it cannot be told, also while
  /// that thread is making another one: the C library then blocks all signals in it for a moment, those
  /// included that no program blocks since they come from its own faults.
  static func mainThreadBlockedSignals() -> UInt64? {
    guard let status = readText("/proc/self/status", atMost: 4096) else { return nil }
    for line in status.split(separator: "\n") where line.hasPrefix("SigBlk:") {
      let mask = UInt64(line.dropFirst(7).drop { $0 == "\t" || $0 == " " }, radix: 16)
      let faults: UInt64 = 1 << (UInt64(SIGILL) - 1) | 1 << (UInt64(SIGSEGV) - 1)
      return mask.flatMap { $0 & faults == faults ? nil : $0 }
    }
    return nil
  }

  /// A descriptor, or -1 with errno set.
  static func openToRead(_ path: String) -> Int32 {
    var descriptor: Int32
    repeat { descriptor = open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
    return descriptor
  }

  /// The first `atMost` bytes of a file.
  static func readText(_ path: String, atMost limit: Int) -> String? {
    let descriptor = openToRead(path)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
      var filled = 0
      while filled < limit {
        let count = read(descriptor, buffer.baseAddress.unsafelyUnwrapped + filled, limit - filled)
        if count < 0 && errno == EINTR { continue }
        if count < 0 { return nil }
        if count == 0 { break }
        filled += count
      }
      return String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<filled]), as: UTF8.self)
    }
  }

  /// All of a file of /proc, from its start. What has been read is not told of by its readiness again.
  static func readText(from descriptor: Int32) -> String? {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
    var bytes: [UInt8] = []
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count < 0 { return nil }
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(contentsOf: buffer[..<count])
      }
    }
  }

  /// An environment variable.
  static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
