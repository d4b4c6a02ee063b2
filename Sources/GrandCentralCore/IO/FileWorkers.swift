// Room: IO/FileWorkers. Threads of the pool that may sleep in the disk: a bounded number of them, first come first
// served. Each takes operations until there are none. The transfer itself is announced as a wait, so that the pool's
// CPUs are not idle meanwhile.

final class FileWorkers: @unchecked Sendable {
  static let shared = FileWorkers()

  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var waiting = FrontList<IOOperation>()
  @Cell private var workers = 0

  /// What disks of today can do at a time, roughly.
  static var mostWorkers: Int { 32 }

  /// The operation is running from now on. Any thread, under any lock of this room.
  func submit(_ operation: IOOperation) {
    let isNew = lock.withLock {
      waiting.append(operation)
      if workers == Self.mostWorkers { return false }
      workers += 1
      return true
    }
    if isNew { DispatchQueue.global().asyncUnsafe { self.work() } }
  }

  /// True: no worker has taken it yet, and none will.
  func takeBack(_ operation: IOOperation) -> Bool {
    lock.withLock { !waiting.take { $0 === operation }.isEmpty }
  }

  private func work() {
    while true {
      let next = lock.withLock {
        let next = waiting.popFirst()
        if next == nil { workers -= 1 }
        return next
      }
      guard let next else { return }
      next.file.run(next)
    }
  }
}
