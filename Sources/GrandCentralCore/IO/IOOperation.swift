// Room: IO/IOOperation. One read or write of a channel.
//   queued ─start→ running ⇄ waiting (for the descriptor) │ parked (for its handlers) ─end→ over
// Guarded by the lock of its file; the handler belongs to its queue. While the state is running,
// one thread makes a system call without the lock. In every other state the holder of the lock may
// end the operation.
// The handler calls are submitted to a serial queue under the lock, so they run in order.

final class IOOperation: @unchecked Sendable {
  typealias Handler = (Bool, DispatchData?, Int32) -> Void
  enum Direction { case read, write }
  enum State { case queued, running, waiting, parked, over }
  /// When an operation ends before its length has moved, without an error or the end of the file.
  enum Extent {
    case all
    /// After some bytes have moved, when more would have to be waited for.
    case whatIsThere
    /// After one transfer that has moved bytes.
    case oneTransfer
  }

  let direction: Direction
  let channel: IOChannel
  /// `nil` means the file position.
  let offset: Int64?
  let length: Int
  let limits: IOLimits
  let extent: Extent
  /// The bytes of a write.
  let data: DispatchData
  /// Whether the handler is called only once, at the end. The limits must be `.unlimited`.
  let callsOnce: Bool
  /// A serial queue, or any queue for a handler that is called once.
  let queue: DispatchQueue
  /// The class that the disk and the CPUs serve the operation in: that of the queue, or of the
  /// submitter.
  let band: Band
  /// The process that submitted the operation.
  let home = HomeProcess()
  /// The handle of the channel until the last handler has returned: C programs use it in handlers
  /// after they have released it. Set before the submission; belongs to `queue`, as `handler` does.
  @Cell var handle: DispatchIO?
  @Cell var handler: Handler?

  @Cell var state = State.queued
  @Cell var isStopped = false
  /// A write that moved nothing or failed together with others, and is repeated alone.
  @Cell var isAlone = false
  @Cell var segment: IOSegment?
  /// The submission order among the operations of the file.
  @Cell var sequence = 0
  /// The index in the file's `started`.
  @Cell var place: Int?
  /// Bytes read and not yet delivered.
  @Cell var pending = DispatchData.empty
  @Cell var moved = 0
  /// The number of written bytes that the handler has been notified of.
  @Cell var reported = 0
  /// The number of handler calls that have not returned, and of the bytes that they received.
  @Cell var handlersOut = 0
  @Cell var bytesOut = 0
  @Cell var timer: (any DispatchSourceTimer)?

  /// The number of handler calls, and of bytes, for which the operation pauses until handlers
  /// return.
  private static var maxHandlersOut: Int { 64 }
  private static var maxBytesOut: Int { 2 * IOLimits.piece }

  init(
    _ direction: Direction, of channel: IOChannel, offset: Int64?, length: Int, limits: IOLimits,
    data: DispatchData = .empty, extent: Extent = .all, callsOnce: Bool = false,
    queue: DispatchQueue, handler: @escaping Handler
  ) {
    self.direction = direction
    self.channel = channel
    self.offset = offset
    self.length = length
    self.limits = limits
    self.data = data
    self.extent = extent
    self.callsOnce = callsOnce
    self.queue =
      switch queue.kind {
      // One call needs no order.
      case _ where callsOnce: queue
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
  /// Whether transfers may sleep instead of reporting that the descriptor is not ready.
  var maySleep: Bool { file.kind == .stored || offset != nil }
  var isAheadOfHandlers: Bool {
    handlersOut >= Self.maxHandlersOut || bytesOut >= Self.maxBytesOut
  }

  /// Whether a thread that has run `other` continues with this operation.
  func continues(_ other: IOOperation) -> Bool {
    direction == other.direction && band == other.band && offset == nil && other.offset == nil
  }

  /// The number of bytes for the next system call, at least 1.
  func nextCount(_ kind: FileKind) -> Int {
    let unreported = direction == .read ? pending.count : moved - reported
    let room = max(1, limits.high - unreported)
    // A pipe holds this much, and a socket delivers no more at once.
    let piece = direction == .read && kind != .stored && offset == nil ? 65536 : IOLimits.piece
    return min(length - moved, room, piece)
  }

  /// Whether enough has moved for a handler call.
  var isDue: Bool { (direction == .read ? pending.count : moved - reported) >= limits.low }

  // MARK: Handler calls, with the lock held

  /// Submits a handler call with what has moved since the last one.
  func deliver() {
    switch direction {
    case .read:
      let data = pending
      pending = .empty
      submit(false, data, 0)
    case .write:
      reported = moved
      submit(false, unwritten, 0)
    }
  }

  /// Submits the last handler call. `atEnd`: the end of the file or stream was reached. What was
  /// read goes before an end or an error, in a call of its own: a handler that gets an error
  /// mostly looks at nothing else.
  func deliverEnd(_ error: Int32, atEnd: Bool) {
    switch direction {
    case .read:
      if (atEnd || error != 0) && pending.count > 0 && !callsOnce { deliver() }
      let data = pending
      pending = .empty
      submit(true, error != 0 && data.count == 0 ? nil : data, error)
    case .write:
      submit(true, moved == length ? nil : unwritten, error)
    }
  }

  /// Submits a handler call for the interval timer, if one is due.
  func tick() {
    guard state != .queued && !isOver && !isAheadOfHandlers else { return }
    if limits.isStrict || isDue { deliver() }
  }

  private var unwritten: DispatchData { data.subdata(in: moved..<length) }

  private func submit(_ done: Bool, _ data: DispatchData?, _ error: Int32) {
    let bytes = direction == .read ? data?.count ?? 0 : 0
    handlersOut += 1
    bytesOut += bytes
    queue.asyncUnsafe { [self] in
      call(done, data, error)
      file.handlerReturned(of: self, bytes: bytes, wasLast: done)
      if done { handle = nil }
    }
  }

  private func call(_ done: Bool, _ data: DispatchData?, _ error: Int32) {
    guard let handler else { return }
    // Destroys the closure here, on the client's queue, because it holds objects of the client.
    if done { self.handler = nil }
    handler(done, data, error)
  }
}

/// The operations between two barriers, and the barrier that ends them. Guarded by the lock of the
/// file.
final class IOSegment: @unchecked Sendable {
  @Cell var reads = FrontList<IOOperation>()
  @Cell var writes = FrontList<IOOperation>()
  /// Operations at offsets.
  @Cell var randoms = FrontList<IOOperation>()
  /// The number of queued and started operations.
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

  /// Removes an operation that has not started.
  func remove(_ operation: IOOperation) {
    _ = reads.take { $0 === operation }
    _ = writes.take { $0 === operation }
    _ = randoms.take { $0 === operation }
  }

  /// Removes and returns the operations of `channel` that have not started, or all if it is `nil`.
  func takeQueued(of channel: IOChannel?) -> [IOOperation] {
    let isTaken = { (operation: IOOperation) in channel == nil || operation.channel === channel }
    let taken = reads.take(where: isTaken) + writes.take(where: isTaken)
    return (taken + randoms.take(where: isTaken)).sorted { $0.sequence < $1.sequence }
  }
}
