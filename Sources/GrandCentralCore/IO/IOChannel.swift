// Room: IO/IOChannel. The state behind a DispatchIO; it outlives that object while operations run.
// Invariant: guarded by the lock of its file. A channel stays attached until it is closed and has
// no unfinished operation. It then detaches, and its cleanup handler is submitted when the file
// ends: when the last channel has detached, and no open is in progress.

final class IOChannel: @unchecked Sendable {
  let isRandom: Bool
  let file: IOFile
  /// The queue of the cleanup handler.
  let queue: DispatchQueue
  /// The cleanup handler does not wait for the other channels of the descriptor, because the client
  /// does not close the descriptor in it.
  let leavesAlone: Bool
  /// The position from which offsets count.
  let origin: Int64

  @Cell var cleanup: ((Int32) -> Void)?
  @Cell var limits = IOLimits()
  @Cell var isClosed = false
  @Cell var isDetached = false
  /// The index in the file's `channels` until it is detached.
  @Cell var place = 0
  /// The error that ends every operation of the channel: the reason why the channel could not be
  /// made, or the reason why it cannot use a file whose kind has changed.
  @Cell var error: Int32 = 0
  /// The number of operations and barriers whose last handler has not returned.
  @Cell var unfinished = 0
  /// The queue on which the channel's barriers run.
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

  /// Returns the errno that rules out such a channel for a file of this kind, or 0.
  func refusal(_ kind: FileKind) -> Int32 {
    switch kind {
    case .directory: EISDIR
    case .pipe, .socket: isRandom ? ESPIPE : 0
    case .stored, .other: 0
    }
  }

  /// Marks the channel as impossible; the client owns the descriptor. Call with the lock held.
  func fail(_ error: Int32) {
    if self.error != 0 { return }
    self.error = error
    submitCleanup(error)
  }

  /// Submits the cleanup handler, once. Call with the lock held, or after detaching the channel.
  func submitCleanup(_ error: Int32) {
    guard let work = cleanup.take() else { return }
    queue.asyncUnsafe { work(error) }
  }

  func position(of offset: Int64) -> Int64? {
    guard isRandom else { return nil }
    let (position, overflows) = origin.addingReportingOverflow(offset)
    return overflows ? -1 : position
  }
}
