// Room: IO/FileWorkers. Threads of the pool that may sleep in the disk: a bounded number of them for each class, first
// come first served within it. Each takes operations until there are none. They are work of that class, so the thread
// has its priority at the disk (QoS/ClassEffects), and what a user waits for never waits for threads that the disk lets
// wait. The transfer itself is announced as a wait, so that the pool's CPUs are not idle meanwhile.

final class FileWorkers: @unchecked Sendable {
  static var shared: FileWorkers {
    Runtime.shared.fileWorkers.get {
      let made = FileWorkers { Runtime.shared.root($0) }
      ForkGate.whenForked { made.afterFork() }
      return made
    }
  }

  private let lock = Lock()
  private let queue: @Sendable (Band) -> DispatchQueue
  /// Guarded by the lock.
  @Cell private var classes = Band.allCases.map { _ in Class() }

  private struct Class {
    var waiting = FrontList<IOOperation>()
    var workers = 0
  }

  /// What disks of today can do at a time, roughly.
  static var mostWorkers: Int { 32 }

  /// - Parameter queue: where the threads for a class come from.
  init(on queue: @escaping @Sendable (Band) -> DispatchQueue) { self.queue = queue }

  /// The operation is running from now on. Any thread, under any lock of this room.
  func submit(_ operation: IOOperation) {
    let band = operation.band
    let isNew = lock.withLock {
      let place = Int(band.rawValue)
      classes[place].waiting.append(operation)
      if classes[place].workers == Self.mostWorkers { return false }
      classes[place].workers += 1
      return true
    }
    if isNew { queue(band).asyncUnsafe { self.work(in: band) } }
  }

  /// True: no worker has taken it yet, and none will.
  func takeBack(_ operation: IOOperation) -> Bool {
    lock.withLock {
      !classes[Int(operation.band.rawValue)].waiting.take { $0 === operation }.isEmpty
    }
  }

  /// In a child that was forked.
  private func afterFork() {
    lock.withLock {
      for place in classes.indices {
        while classes[place].waiting.popFirst() != nil {}
        classes[place].workers = 0
      }
    }
  }

  private func work(in band: Band) {
    let place = Int(band.rawValue)
    while true {
      let next = lock.withLock {
        let next = classes[place].waiting.popFirst()
        if next == nil { classes[place].workers -= 1 }
        return next
      }
      guard let next else { return }
      next.file.run(next)
    }
  }
}
