// Purpose: finds what a chapter leaves behind. Folders and children are registered here, and the
// open descriptors are compared with those at the beginning.

import Synchronization
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

final class Leavings: Sendable {
  static let shared = Leavings()

  private struct State {
    var folders: [Path] = []
    var children: Set<pid_t> = []
    var descriptors: [String: Int] = [:]
  }
  private let state = Mutex(State())

  /// Records the descriptors that are open now; these may remain.
  func remember() {
    let now = Self.openDescriptors()
    state.withLock { $0.descriptors = now }
  }

  /// Creates a folder, which the chapter removes. Its path is absolute.
  func makeFolder() -> Path? {
    let base = getenv("TMPDIR").map { Path(cString: $0) } ?? Path("/tmp")
    guard let real = base.withCString({ realpath($0, nil) }) else { return nil }
    defer { free(real) }
    var template = Path(cString: real).appending("tour-XXXXXX").bytes.map { CChar(bitPattern: $0) }
    template.append(0)
    guard mkdtemp(&template) != nil else { return nil }
    let folder = template.withUnsafeBufferPointer { Path(cString: $0.baseAddress!) }
    state.withLock { $0.folders.append(folder) }
    return folder
  }

  /// Removes a folder and its contents.
  func remove(_ folder: Path) {
    // A chapter that is stopped early may still be creating files, so rmdir(2) can fail. Files that
    // are removed do not return, so a bounded number of attempts is enough.
    for _ in 0..<1000 {
      empty(folder)
      if folder.withCString({ rmdir($0) }) == 0 || errno != ENOTEMPTY { break }
      sched_yield()
    }
    state.withLock { state in state.folders.removeAll { $0 == folder } }
  }

  private func empty(_ root: Path) {
    var folders = [root]
    var next = 0
    while next < folders.count {
      let listing = try? FolderListing(of: folders[next])
      for file in (listing?.files ?? []) + (listing?.links ?? []) {
        _ = file.withCString { unlink($0) }
      }
      folders += listing?.folders ?? []
      next += 1
    }
    for folder in folders.dropFirst().reversed() { _ = folder.withCString { rmdir($0) } }
  }

  func began(_ child: pid_t) {
    state.withLock { _ = $0.children.insert(child) }
  }

  /// Unregisters a child. Call this before reaping it: afterwards its number may be reused.
  func willEnd(_ child: pid_t) {
    state.withLock { _ = $0.children.remove(child) }
  }

  /// Kills all registered children and removes all folders, because the process must exit early.
  func clear() {
    let (folders, children) = state.withLock { ($0.folders, $0.children) }
    for child in children { kill(child, SIGKILL) }
    for folder in folders { remove(folder) }
  }

  /// Describes everything that remains and should not.
  func found() -> [String] {
    var words: [String] = []
    let (folders, before) = state.withLock { ($0.folders, $0.descriptors) }
    words += folders.filter { folder in folder.withCString { access($0, F_OK) } == 0 }
      .map { "the folder \($0)" }
    // wait(2): ECHILD means that there is no child at all, running or ended.
    if waitpid(-1, nil, WNOHANG) >= 0 || errno != ECHILD { words.append("a child process") }
    for (name, count) in Self.openDescriptors() where count > before[name, default: 0] {
      words.append("\(Wording.count(count - before[name, default: 0], "descriptor")) of \(name)")
    }
    return words.sorted()
  }

  /// Counts the open descriptors by kind. Descriptors that an engine keeps for ever are left out:
  /// its epoll set, timers, wake-up descriptor, and the mount table that reports unmounts.
  static func openDescriptors() -> [String: Int] {
    let kept: Set = [
      "anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]",
      "anon_inode:inotify", "anon_inode:[signalfd]", "anon_inode:[io_uring]",
    ]
    var counts: [String: Int] = [:]
    for number in 0..<Int32(clamping: min(Machine.descriptorLimit, 4096)) {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = bytes.withUnsafeMutableBytes { buffer in
        readlink(
          "/proc/self/fd/\(number)", buffer.baseAddress!.assumingMemoryBound(to: CChar.self),
          buffer.count)
      }
      guard count > 0 else { continue }
      let name = String(decoding: bytes.prefix(count), as: UTF8.self)
      if kept.contains(name) || name.hasSuffix("/mountinfo") { continue }
      // "socket:[123]": only the kind counts, not the number.
      counts[name.hasPrefix("/") ? name : String(name.prefix { $0 != "[" }), default: 0] += 1
    }
    return counts
  }
}
