// Room: IO/FileWorkers. Threads that read and write files, and may sleep on the disk: a bounded
// number for each class. Operations of one class start in submission order. A worker takes
// operations until none is left. It is a work item of its class, so its thread has the I/O priority
// of that class (ThreadPolicy/ClassEffects), and urgent work never waits for threads that the disk
// delays. Each transfer is announced as a blocking wait, so the pool keeps its CPUs busy.

final class FileWorkers: @unchecked Sendable {
  static var shared: FileWorkers {
    Runtime.shared.fileWorkers.get {
      FileWorkers { Runtime.shared.root($0) }
    }
  }

  let lock = Lock()
  private let queueOfBand: @Sendable (Band) -> DispatchQueue
  /// Guarded by the lock.
  @Cell var classes = Band.allCases.map { _ in Class() }

  struct Class {
    var waiting = FrontList<IOOperation>()
    var workers = 0
  }

  /// About as many requests as a present disk serves at once.
  static var maxWorkers: Int { 32 }

  /// - Parameter queueOfBand: the queue that supplies the threads of a class.
  init(on queueOfBand: @escaping @Sendable (Band) -> DispatchQueue) {
    self.queueOfBand = queueOfBand
  }

  /// Queues a running operation. Any thread, under any lock of this folder.
  func submit(_ operation: IOOperation) {
    let band = operation.band
    let isNew = lock.withLock {
      let place = Int(band.rawValue)
      classes[place].waiting.append(operation)
      if classes[place].workers == Self.maxWorkers { return false }
      classes[place].workers += 1
      return true
    }
    if isNew { queueOfBand(band).asyncUnsafe { self.work(in: band) } }
  }

  /// Withdraws an operation. True: no worker has taken it, and none will.
  func takeBack(_ operation: IOOperation) -> Bool {
    lock.withLock {
      !classes[Int(operation.band.rawValue)].waiting.take { $0 === operation }.isEmpty
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
