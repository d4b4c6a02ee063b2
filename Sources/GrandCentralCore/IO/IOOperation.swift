// Room: IO/IOOperation. One read or write of a channel.
//   queued ─start→ running ⇄ waiting (for the descriptor) │ parked (for its handlers) ─end→ over
// Guarded by its file's lock, but that the handler belongs to the queue that it runs on. While it is running one thread
// is in its system call, without the lock; in all other states whoever has the lock may end it.
// Its handlers go to a serial queue in the order in which they are handed over under the lock, so they run in order.

final class IOOperation: @unchecked Sendable {
  typealias Handler = (Bool, DispatchData?, Int32) -> Void
  enum Direction { case read, write }
  enum State { case queued, running, waiting, parked, over }

  let direction: Direction
  let channel: IOChannel
  /// `nil`: where the descriptor stands.
  let offset: Int64?
  let length: Int
  let limits: IOLimits
  /// Ends when it has moved something and would have to wait for more.
  let takesWhatIsThere: Bool
  /// What is to be written.
  let data: DispatchData
  /// Serial.
  let queue: DispatchQueue
  /// The class that the disk and the CPUs are to serve it in: the queue's, or that of who asked.
  let band: Band
  /// The process that it is of, as ForkGate counts.
  let generation = ForkGate.generation
  @Cell var handler: Handler?

  @Cell var state = State.queued
  @Cell var isStopped = false
  @Cell var segment: IOSegment?
  /// Among all of its file.
  @Cell var sequence = 0
  /// Among those that are started.
  @Cell var place: Int?
  /// Read and not handed over.
  @Cell var pending = DispatchData.empty
  @Cell var moved = 0
  /// Written, and told.
  @Cell var told = 0
  /// Handlers that have not returned, and how many bytes they were given.
  @Cell var handlersOut = 0
  @Cell var bytesOut = 0
  @Cell var timer: (any DispatchSourceTimer)?

  /// So many handlers, or so many bytes, wait for the client at most; then the operation waits for it too.
  private static var mostHandlersOut: Int { 64 }
  private static var mostBytesOut: Int { 2 * IOLimits.piece }

  init(
    _ direction: Direction, of channel: IOChannel, offset: Int64?, length: Int, limits: IOLimits,
    data: DispatchData = .empty, takesWhatIsThere: Bool = false, queue: DispatchQueue,
    handler: @escaping Handler
  ) {
    self.direction = direction
    self.channel = channel
    self.offset = offset
    self.length = length
    self.limits = limits
    self.data = data
    self.takesWhatIsThere = takesWhatIsThere
    self.queue =
      switch queue.kind {
      case .serial, .bound: queue
      case .concurrent, .root: DispatchQueue(label: "handlers of DispatchIO", target: queue)
      }
    let asked = QoSPropagation.inferred(from: PackedQoS(rawValue: currentThread().pointee.qos))
    let found = queue.effectiveQoS(WorkTraits(qos: asked)).band
    band = found == .unspecified ? .default : found
    self.handler = handler
  }

  var file: IOFile { channel.file }
  var isOver: Bool { state == .over }
  /// Its transfers are not ready or not, but take their time.
  var maySleep: Bool { file.kind == .stored || offset != nil }
  var isAheadOfHandlers: Bool {
    handlersOut >= Self.mostHandlersOut || bytesOut >= Self.mostBytesOut
  }

  /// How many bytes are worth to be moved next; at least 1.
  func nextCount(_ kind: FileKind) -> Int {
    let untold = direction == .read ? pending.count : moved - told
    let room = max(1, limits.high - untold)
    // A pipe holds as much, and of a socket no more comes at a time.
    let piece = direction == .read && kind != .stored && offset == nil ? 65536 : IOLimits.piece
    return min(length - moved, room, piece)
  }

  /// Whether the client is to be told of what was moved.
  var isDue: Bool { (direction == .read ? pending.count : moved - told) >= limits.low }

  // MARK: Handing over, with the lock held

  /// What was moved since the last time.
  func tell() {
    switch direction {
    case .read:
      let data = pending
      pending = .empty
      submit(false, data, 0)
    case .write:
      told = moved
      submit(false, unwritten, 0)
    }
  }

  /// The last. `atEnd`: there was no more to read.
  func tellEnd(_ error: Int32, atEnd: Bool) {
    switch direction {
    case .read:
      if atEnd && pending.count > 0 { tell() }
      let data = pending
      pending = .empty
      submit(true, error != 0 && data.count == 0 ? nil : data, error)
    case .write:
      submit(true, moved == length ? nil : unwritten, error)
    }
  }

  /// For the client's timer.
  func tick() {
    guard state != .queued && !isOver && !isAheadOfHandlers else { return }
    if limits.isStrict || isDue { tell() }
  }

  private var unwritten: DispatchData { data.subdata(in: moved..<length) }

  private func submit(_ done: Bool, _ data: DispatchData?, _ error: Int32) {
    let bytes = direction == .read ? data?.count ?? 0 : 0
    handlersOut += 1
    bytesOut += bytes
    queue.asyncUnsafe { [self] in
      call(done, data, error)
      file.handlerReturned(of: self, bytes: bytes, wasLast: done)
    }
  }

  private func call(_ done: Bool, _ data: DispatchData?, _ error: Int32) {
    guard let handler else { return }
    // It dies here, on the client's queue: what it holds is the client's.
    if done { self.handler = nil }
    handler(done, data, error)
  }
}

/// The operations between two barriers, and the second of these. Guarded by the file's lock.
final class IOSegment: @unchecked Sendable {
  @Cell var reads = FrontList<IOOperation>()
  @Cell var writes = FrontList<IOOperation>()
  /// Each at a place of its own.
  @Cell var randoms = FrontList<IOOperation>()
  /// Queued and started ones that have not ended.
  @Cell var unfinished = 0
  @Cell var barrier: (channel: IOChannel, work: () -> Void)?

  func add(_ operation: IOOperation) {
    unfinished += 1
    operation.segment = self
    if operation.offset != nil {
      randoms.append(operation)
    } else if operation.direction == .read {
      reads.append(operation)
    } else {
      writes.append(operation)
    }
  }

  /// Takes out those of `channel` that have not started; `nil`: all.
  func takeQueued(of channel: IOChannel?) -> [IOOperation] {
    let isTaken = { (operation: IOOperation) in channel == nil || operation.channel === channel }
    let taken = reads.take(where: isTaken) + writes.take(where: isTaken)
    return (taken + randoms.take(where: isTaken)).sorted { $0.sequence < $1.sequence }
  }
}
