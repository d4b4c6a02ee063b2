// Room: Sources/File/Mounts. Watches whether the file systems of watched files are still mounted.
// Linux unmounts a file system with open files only lazily (umount(2), MNT_DETACH), and inotify(7)
// does not report that. But /proc/self/mountinfo becomes ready when a mount changes, and then no
// longer lists the mount: proc(5). It is opened for the first source that wants the event. It is
// always read through the same descriptor, which stands for the same mount namespace even after the
// process has entered another one.

final class Mounts: ReadinessReceiver, @unchecked Sendable {
  struct Listener {
    let entry: FileEntry
    let files: FileWatches
    let mount: Int
  }

  private let poller: Poller
  let lock = Lock()
  /// Guarded by the lock. -1: not open; if `isSettled` too, it cannot be opened.
  @Cell var descriptor: Int32 = -1
  @Cell var isSettled = false
  @Cell var known: Set<Int> = []
  @Cell var listeners: [ObjectIdentifier: Listener] = [:]

  init(poller: Poller) { self.poller = poller }

  /// Returns the number by which the mount of an open file is listed; `nil` if it is not listed.
  func mount(of file: Int32) -> Int? {
    guard let info = Process.readText("/proc/self/fdinfo/\(file)", atMost: 1024),
      let mount = Self.mount(inInfo: info)
    else { return nil }
    return lock.withLock {
      open()
      if !known.contains(mount) { readKnown() }
      return known.contains(mount) ? mount : nil
    }
  }

  /// Begins to watch `mount` for `entry`, whose file is on it. Revokes the entry at once if the
  /// mount is gone.
  func join(_ entry: FileEntry, _ mount: Int, of files: FileWatches, on thread: ThreadContext) {
    let isGone = lock.withLock {
      guard known.contains(mount) else { return true }
      listeners[ObjectIdentifier(entry)] = Listener(entry: entry, files: files, mount: mount)
      return false
    }
    if isGone { files.revoke(entry, on: thread) }
  }

  func leave(_ entry: FileEntry) {
    // Released outside the lock.
    _ = lock.withLock { listeners.removeValue(forKey: ObjectIdentifier(entry)) }
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    let gone = lock.withLock {
      readKnown()
      let gone = listeners.values.filter { !known.contains($0.mount) }
      for listener in gone { listeners[ObjectIdentifier(listener.entry)] = nil }
      return gone
    }
    for listener in gone { listener.files.revoke(listener.entry, on: thread) }
  }

  // MARK: With the lock held

  private func open() {
    let set = poller.prepare()
    guard !isSettled, set >= 0 else { return }
    let made = Process.openToRead("/proc/self/mountinfo")
    guard made >= 0 else {
      // The system may have descriptors again later.
      isSettled = errno != EMFILE && errno != ENFILE
      return
    }
    // If mounts have changed since it was opened, the first event comes at once.
    if case .failure = poller.register(self, for: made, .priority, .edge) {
      close(made)
      return
    }
    isSettled = true
    descriptor = made
  }

  private func readKnown() {
    guard descriptor >= 0, let text = Process.readText(from: descriptor) else { return }
    known = Self.mounts(in: text)
  }

  // MARK: Parsing

  /// Parses /proc/pid/fdinfo: proc(5).
  static func mount(inInfo text: String) -> Int? {
    for line in text.split(separator: "\n") where line.hasPrefix("mnt_id:") {
      return Int(line.dropFirst(7).drop { $0 == "\t" || $0 == " " })
    }
    return nil
  }

  /// Parses /proc/pid/mountinfo, whose lines begin with the mount's number: proc(5).
  static func mounts(in text: String) -> Set<Int> {
    Set(text.split(separator: "\n").compactMap { Int($0.prefix { $0 != " " }) })
  }
}
