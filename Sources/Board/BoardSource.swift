// Where the bytes of a board come from, and what /proc says about the threads of its process.

/// A message for the person at the terminal: what failed, and what to do.
package struct InsideError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// The words of a board.
package protocol BoardSource {
  /// Reads words at an offset in bytes. Returns how many: fewer than there is room for at the end
  /// of the file.
  func read(at offset: Int, into words: UnsafeMutableBufferPointer<UInt64>) -> Int
}

extension BoardSource {
  /// Returns up to `count` words at an offset in bytes.
  package func words(at offset: Int, count: Int) -> [UInt64] {
    [UInt64](unsafeUninitializedCapacity: count) { words, filled in
      filled = read(at: offset, into: UnsafeMutableBufferPointer(rebasing: words[..<count]))
    }
  }
}

/// What the kernel knows of a thread.
package struct KernelThread: Equatable {
  /// A letter as in proc(5), field 3 of `stat`.
  let state: Character
  let switches: String
  package var isAsleep: Bool { "SDTt".contains(state) }
  var isStopped: Bool { "Tt".contains(state) }

  /// Reads the thread's entry in /proc; `nil`: it has ended, or /proc cannot be read.
  package init?(_ thread: UInt32, of process: Int) {
    guard let text = readText("/proc/\(process)/task/\(thread)/status") else { return nil }
    var state: Character?
    var switches = ""
    for line in text.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) {
      if line.hasPrefix("State:") { state = line.dropFirst(6).first { $0.isLetter } }
      // voluntary_ctxt_switches, nonvoluntary_ctxt_switches
      if line.utf8.first == UInt8(ascii: "v") || line.hasPrefix("nonvoluntary") { switches += line }
    }
    guard let state else { return nil }
    self.state = state
    self.switches = switches
  }
}

extension KernelThread {
  /// The ids of a process's threads.
  static func all(of process: Int) -> [UInt32] {
    (namesInFolder("/proc/\(process)/task") ?? []).compactMap { UInt32($0) }
  }

  /// Whether the thread sleeps in futex(2), as locks and conditions do. False where the system does
  /// not say it.
  static func isInLock(_ thread: UInt32, of process: Int) -> Bool {
    readText("/proc/\(process)/task/\(thread)/wchan")?.hasPrefix("futex") ?? false
  }
}

/// The events that may bring work to a process.
enum ProcessEvents {
  /// Whether a timer is armed, or a descriptor other than the engine's own is watched.
  static func mayCome(to process: Int) -> Bool {
    descriptors(of: process).contains { number, target in
      guard target.hasPrefix("anon_inode:[timerfd]") || target.hasPrefix("anon_inode:[eventpoll]"),
        let text = readText("/proc/\(process)/fdinfo/\(number)")
      else { return false }
      return text.split(separator: "\n").contains { line in
        if line.hasPrefix("it_value:") { return line.contains { "123456789".contains($0) } }
        guard line.hasPrefix("tfd:"),
          let watched = line.split(separator: " ", omittingEmptySubsequences: true).dropFirst()
            .first
        else { return false }
        // Event descriptors and timers are the engine's, and those are looked at themselves.
        return !linkTarget("/proc/\(process)/fd/\(watched)").hasPrefix("anon_inode:")
      }
    }
  }

  private static func descriptors(of process: Int) -> [(number: String, target: String)] {
    let folder = "/proc/\(process)/fd"
    return (namesInFolder(folder) ?? []).map { ($0, linkTarget("\(folder)/\($0)")) }
  }
}
