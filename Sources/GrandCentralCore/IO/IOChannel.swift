// Room: IO/IOChannel. What a DispatchIO stands for: it outlives that object while operations run.
// Guarded by its file's lock. Attached until it is closed and nothing of it runs any more; then its cleanup handler is
// due, which the file calls when the last channel has left it.

final class IOChannel: @unchecked Sendable {
  let isRandom: Bool
  let file: IOFile
  /// The cleanup handler's.
  let queue: DispatchQueue
  /// It waits for no other channel of the descriptor: nobody is to close that because of it.
  let leavesAlone: Bool
  /// What offsets are counted from.
  let origin: Int64

  @Cell var cleanup: ((Int32) -> Void)?
  @Cell var limits = IOLimits()
  @Cell var isClosed = false
  @Cell var isDetached = false
  /// What every operation of the channel ends with: why the channel cannot be made or, with a file
  /// that has become another kind since, why it cannot be used.
  @Cell var error: Int32 = 0
  /// Operations and barriers whose last handler has not returned.
  @Cell var unfinished = 0
  /// Where its barriers run.
  @Cell var barrierQueue = DispatchQueue.global()

  init(
    isRandom: Bool, file: IOFile, origin: Int64 = 0, queue: DispatchQueue,
    leavesAlone: Bool = false,
    cleanup: @escaping (Int32) -> Void
  ) {
    self.isRandom = isRandom
    self.file = file
    self.origin = origin
    self.queue = queue
    self.leavesAlone = leavesAlone
    self.cleanup = cleanup
  }

  /// Why it cannot be made for such a file; 0: it can.
  func refusal(_ kind: FileKind) -> Int32 {
    switch kind {
    case .directory: EISDIR
    case .pipe, .socket: isRandom ? ESPIPE : 0
    case .stored, .other: 0
    }
  }

  /// With the lock held: there is no such channel, and the descriptor is the client's.
  func fail(_ error: Int32) {
    if self.error != 0 { return }
    self.error = error
    submitCleanup(error)
  }

  /// Once. With the lock held, or by whoever has taken the channel off its file.
  func submitCleanup(_ error: Int32) {
    guard let work = cleanup.take() else { return }
    queue.asyncUnsafe { work(error) }
  }

  func place(of offset: Int64) -> Int64? {
    guard isRandom else { return nil }
    let (place, overflows) = origin.addingReportingOverflow(offset)
    return overflows ? -1 : place
  }
}
