// Room: IO/IOFile. The state that the channels of one descriptor share, and the order of their
// operations.
//   looking ─┬→ unopened ─first operation→ opening ─┬→ open
//            └──────────────→ failed ←──────────────┘          by descriptor: open from the start
// A file is over when it has no channel and is not being opened.
// Operations are in segments, which barriers end. Only operations of the first segment start:
//   streams  one at a time in each direction, in order; for stored files one at a time in all,
//            because both directions share the file position
//   randoms  concurrently, up to a bound
// A barrier runs when every operation of the first segment has ended, that is, has submitted its
// last handler. The segment is removed when the barrier returns.
// The lock is held while work is submitted. It is never held while a system call moves bytes, or
// while a closure of the client runs or is destroyed.
// Lock order: IOTable, this lock, those of FileRing, FileWorkers, IOBuffers and of the lower
// folders.
import CGrandCentralLinux

final class IOFile: @unchecked Sendable {
  enum Stage: Equatable {
    case looking, unopened, opening, open
    case failed(Int32)
  }
  struct Path {
    /// The path, with the terminating NUL. It is not a String, because a name need not be valid
    /// UTF-8 and String would repair it.
    let path: [CChar]
    let flags: Int32
    let mode: UInt32

    init(_ path: UnsafePointer<CChar>, flags: Int32, mode: UInt32) {
      self.path = Array(UnsafeBufferPointer(start: path, count: strlen(path) + 1))
      self.flags = flags
      self.mode = mode
    }
  }

  let lock = Lock()
  let buffers = IOBuffers()
  let path: Path?
  /// -1 until the file is open. The lock guards this and every `@Cell` below.
  @Cell var descriptor: Int32
  @Cell var kind: FileKind
  @Cell var stage: Stage
  @Cell var channels: [IOChannel] = []
  /// Channels that have detached and wait for the end of the file.
  @Cell var leavers: [IOChannel] = []
  @Cell var isOver = false
  @Cell var segments = [IOSegment()]
  /// The channel whose barrier runs.
  @Cell var barrierChannel: IOChannel?
  @Cell private var submitted = 0
  /// Operations that have started and not ended.
  @Cell var started: [IOOperation] = []
  @Cell var randomsStarted = 0
  /// Writes that the running one takes along: see IOFile+Join.
  @Cell var followers: [IOOperation] = []
  /// Whether a started operation reads, or writes, at the file position.
  @Cell var reads = false
  @Cell var writes = false
  @Cell var waiters: [IOOperation.Direction: IOWaiter] = [:]
  /// Whether the descriptor was blocking and must be made blocking again.
  @Cell var restoresBlocking = false
  /// Whether small reads are tried on the calling thread; `nil` until it is known.
  @Cell var triesCache: Bool?
  /// The operation that the submitting thread runs itself if it can start at once.
  @Cell private var submitters: IOOperation?
  /// The operation that the holder of the lock has run, while it looks what to do next.
  @Cell var runner: IOOperation?
  /// The one that the end of `runner` has started, and which the same thread runs.
  @Cell var successor: IOOperation?
  /// The file that the descriptor referred to when this object was made.
  let identity: FileStatus?
  /// The process that owns this state; see withOwnState().
  @Cell var home = HomeProcess()

  private static var maxRandoms: Int { 32 }

  /// Makes the state of an open descriptor.
  init(_ descriptor: Int32, kind: FileKind, identity: FileStatus) {
    self.descriptor = descriptor
    self.kind = kind
    self.identity = identity
    path = nil
    stage = .open
  }

  /// Makes the state of a file that is opened later.
  init(path: Path) {
    self.path = path
    descriptor = -1
    kind = .other
    identity = nil
    stage = .looking
  }

  /// Makes the state of a channel that cannot be made.
  init(descriptor: Int32, failed error: Int32) {
    self.descriptor = descriptor
    kind = .other
    path = nil
    identity = nil
    stage = .failed(error)
  }

  // MARK: Requests of channels. Any thread.

  func submit(_ operation: IOOperation) {
    let channel = operation.channel
    let step = withOwnState { () -> IOStep? in
      channel.unfinished += 1
      operation.sequence = submitted
      submitted += 1
      let refusal = channel.isClosed || operation.isStopped ? ECANCELED : channel.error
      if refusal != 0 {
        operation.state = .over
        operation.deliverEnd(refusal, atEnd: false)
        return nil
      }
      segments[segments.count - 1].add(operation)
      lookAfterWaiters()
      if operation.suitsCache && mayTryCache() { submitters = operation }
      advance()
      let isSubmitters = submitters.take() != nil && operation.state == .running
      return isSubmitters ? nextStep(of: operation) : nil
    }
    if let step { readCached(step, of: operation) }
  }

  /// Runs `work` after all earlier operations of all channels, and before the later ones.
  func barrier(_ channel: IOChannel, _ work: @escaping () -> Void) {
    let isLate = withOwnState {
      if channel.isDetached { return true }
      channel.unfinished += 1
      segments[segments.count - 1].barrier = (channel, work)
      segments.append(IOSegment())
      advance()
      return false
    }
    if isLate { channel.barrierQueue.asyncUnsafe(execute: work) }
  }

  func close(_ channel: IOChannel, stops: Bool) {
    let isLast = withOwnState {
      channel.isClosed = true
      if stops { stop(channel) }
      lookAfterWaiters()
      advance()
      return detachIfDone(channel)
    }
    if isLast { IOTable.shared.release(self) }
  }

  /// The descriptor for the client of a channel. A barrier may use it after the channel has been
  /// closed, because the channel stays attached until its barriers have returned.
  func descriptor(for channel: IOChannel) -> Int32 {
    lock.withLock { channel.isClosed && barrierChannel !== channel ? -1 : descriptor }
  }

  private func stop(_ channel: IOChannel) {
    // In submission order.
    let own = (started + followers).filter { $0.channel === channel }.sorted {
      $0.sequence < $1.sequence
    }
    for operation in own { stopStarted(operation) }
    endQueued(of: channel, ECANCELED)
  }

  private func stopStarted(_ operation: IOOperation) {
    operation.isStopped = true
    // A thread that runs the operation sees `isStopped` itself.
    let isRunning =
      operation.state == .running
      && !(operation.maySleep && FileTransfers.shared.takeBack(operation))
    if !isRunning { end(operation, ECANCELED) }
  }

  /// Ends one operation early, with ECANCELED; its channel stays open. An operation that is not
  /// submitted yet ends when it is.
  func stop(_ operation: IOOperation) {
    withOwnState {
      switch operation.state {
      case .over: return
      case .queued:
        operation.isStopped = true
        guard let segment = operation.segment else { return }
        segment.remove(operation)
        end(operation, ECANCELED)
      case .running, .waiting, .parked: stopStarted(operation)
      }
      advance()
    }
  }

  // MARK: Descriptors closed too early. With the lock held.

  /// Ends the operations of a lost descriptor. epoll reports nothing when a registered descriptor
  /// is closed, and the number may then refer to another file. The descriptor is therefore checked
  /// when a channel is closed or an operation is submitted.
  private func lookAfterWaiters() {
    if waiters.values.contains(where: { $0.operation != nil }) && isLost { lose() }
  }

  /// Whether the number refers to another file by now, or to none.
  var isLost: Bool {
    guard path == nil, let identity else { return false }
    switch FileStatus.of(descriptor) {
    case .status(let now): return !identity.isSameFile(as: now)
    case .closed: return true
    case .unknown: return false
    }
  }

  /// Stops all use of the number: waiting and queued operations end with EBADF.
  func lose() {
    if isOver || stage == .failed(EBADF) { return }
    stage = .failed(EBADF)
    for waiter in waiters.values {
      if let operation = waiter.operation.take(), operation.state == .waiting {
        end(operation, EBADF)
      }
    }
    stopListening()
    advance()
  }

  // MARK: Starting operations. With the lock held.

  func advance() {
    guard !isOver, let segment = segments.first, barrierChannel == nil else { return }
    switch stage {
    case .looking, .opening: return
    case .unopened:
      if segment.unfinished == 0 && segment.barrier == nil { return }
      stage = .opening
      DispatchQueue.global().asyncUnsafe { self.openPath() }
      return
    case .failed(let error):
      for operation in segment.takeQueued(of: nil) { end(operation, error) }
    case .open: startNext(of: segment)
    }
    guard segment.unfinished == 0, let barrier = segment.barrier else { return }
    barrierChannel = barrier.channel
    segment.barrier = nil
    barrier.channel.barrierQueue.asyncUnsafe { [home] in
      barrier.work()
      if home.isCurrent { self.barrierReturned(to: barrier.channel) }
    }
  }

  private func startNext(of segment: IOSegment) {
    while true {
      var next: IOOperation?
      if kind == .stored {
        guard !reads && !writes else { break }
        let readIsFirst =
          (segment.reads.first?.sequence ?? .max) < (segment.writes.first?.sequence ?? .max)
        next = readIsFirst ? segment.reads.popFirst() : segment.writes.popFirst()
      } else {
        if !reads { next = segment.reads.popFirst() }
        if next == nil && !writes { next = segment.writes.popFirst() }
      }
      guard let next else { break }
      start(next)
    }
    while randomsStarted < Self.maxRandoms, let next = segment.randoms.popFirst() { start(next) }
  }

  private func start(_ operation: IOOperation) {
    operation.place = started.count
    started.append(operation)
    count(operation, starts: true)
    operation.state = .running
    startTimer(of: operation)
    if operation === submitters { return }
    if let runner, operation.continues(runner) {
      successor = operation
    } else {
      go(on: operation)
    }
  }

  private func count(_ operation: IOOperation, starts: Bool) {
    switch operation.direction {
    case _ where operation.offset != nil: randomsStarted += starts ? 1 : -1
    case .read: reads = starts
    case .write: writes = starts
    }
  }

  /// Finds a thread for a running operation that has none.
  func go(on operation: IOOperation) {
    if operation.maySleep {
      FileTransfers.shared.submit(operation)
    } else {
      Runtime.shared.root(operation.band).asyncUnsafe { self.run(operation) }
    }
  }

  /// Ends an operation that no thread runs. The caller then calls advance().
  func end(_ operation: IOOperation, _ error: Int32, atEnd: Bool = false) {
    if let place = operation.place.take() {
      // `started` is unordered: the last element fills the gap.
      let last = started.removeLast()
      if last !== operation {
        started[place] = last
        last.place = place
      }
      count(operation, starts: false)
    }
    operation.state = .over
    operation.timer?.cancel()
    operation.timer = nil
    operation.segment?.unfinished -= 1
    operation.segment = nil
    operation.deliverEnd(error, atEnd: atEnd)
  }

  /// Ends the queued operations of a channel that has turned out to be impossible.
  func endQueued(of channel: IOChannel, _ error: Int32) {
    for segment in segments {
      for operation in segment.takeQueued(of: channel) { end(operation, error) }
    }
  }

  private func startTimer(of operation: IOOperation) {
    let interval = Int(operation.limits.intervalNanoseconds)
    guard interval > 0 else { return }
    let timer = DispatchSource.makeTimerSource()
    let (first, overflows) = DispatchTime.now().uptimeNanoseconds
      .addingReportingOverflow(UInt64(interval))
    let deadline = overflows ? DispatchTime.distantFuture : .init(uptimeNanoseconds: first)
    timer.schedule(deadline: deadline, repeating: .nanoseconds(interval))
    timer.setEventHandler { [weak operation] in
      guard let operation else { return }
      operation.file.lock.withLock { operation.tick() }
    }
    timer.activate()
    operation.timer = timer
  }

  // MARK: Returns from closures. Any thread, without the lock.

  private func barrierReturned(to channel: IOChannel) {
    let isLast = lock.withLock {
      barrierChannel = nil
      segments.removeFirst()
      channel.unfinished -= 1
      advance()
      return detachIfDone(channel)
    }
    if isLast { IOTable.shared.release(self) }
  }

  func handlerReturned(of operation: IOOperation, bytes: Int, wasLast: Bool) {
    // The handler has forked. This is the child, and the operation belongs to the parent.
    if !operation.home.isCurrent { return }
    let isLast = lock.withLock {
      operation.handlersOut -= 1
      operation.bytesOut -= bytes
      if operation.state == .parked && !operation.isAheadOfHandlers {
        operation.state = .running
        go(on: operation)
      }
      guard wasLast else { return false }
      operation.channel.unfinished -= 1
      return detachIfDone(operation.channel)
    }
    if isLast { IOTable.shared.release(self) }
  }

  /// Detaches the channel if it is closed and finished. Call with the lock held. True: it was the
  /// last channel, and the caller must release the file.
  func detachIfDone(_ channel: IOChannel) -> Bool {
    guard channel.isClosed && channel.unfinished == 0 && !channel.isDetached else { return false }
    channel.isDetached = true
    // `channels` is unordered: the last one fills the gap.
    let last = channels.removeLast()
    if last !== channel {
      channels[channel.place] = last
      last.place = channel.place
    }
    if channel.leavesAlone && !channels.isEmpty {
      channel.submitCleanup(0)
    } else {
      leavers.append(channel)
    }
    return channels.isEmpty
  }
}
