// Purpose: what a chapter makes in the world outside of its process, so that nothing of it stays:
// folders and children are noted here, and descriptors compared with those at the beginning.

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

  /// Takes the descriptors that are open now for those that may stay.
  func remember() {
    let now = Self.openDescriptors()
    state.withLock { $0.descriptors = now }
  }

  /// A new folder of our own, which the chapter removes. Its path begins at the root.
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

  /// Removes a folder and all that is in it.
  func remove(_ folder: Path) {
    // When a chapter is stopped in the middle, somebody may still be making files: then a folder is
    // not empty when its turn comes. None that is gone comes back, so after some turns all are.
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

  /// To be called before the child is waited for: afterwards its number may be somebody else's.
  func willEnd(_ child: pid_t) {
    state.withLock { _ = $0.children.remove(child) }
  }

  /// Takes all of it away, at once: when the process is asked to stop in the middle.
  func clear() {
    let (folders, children) = state.withLock { ($0.folders, $0.children) }
    for child in children { kill(child, SIGKILL) }
    for folder in folders { remove(folder) }
  }

  /// What is still there and should not be, in words.
  func found() -> [String] {
    var words: [String] = []
    let (folders, before) = state.withLock { ($0.folders, $0.descriptors) }
    words += folders.filter { folder in folder.withCString { access($0, F_OK) } == 0 }
      .map { "the folder \($0)" }
    // wait(2): ECHILD says that there is no child at all, ended or not.
    if waitpid(-1, nil, WNOHANG) >= 0 || errno != ECHILD { words.append("a child process") }
    for (name, count) in Self.openDescriptors() where count > before[name, default: 0] {
      words.append("\(Wording.count(count - before[name, default: 0], "descriptor")) of \(name)")
    }
    return words.sorted()
  }

  /// How many descriptors lead to each kind of thing; those that an engine keeps for good are left
  /// out: what it waits with, its timers, its bell, the list that unmounting shows in.
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
      // "socket:[123]": the number is of no interest.
      counts[name.hasPrefix("/") ? name : String(name.prefix { $0 != "[" }), default: 0] += 1
    }
    return counts
  }
}
