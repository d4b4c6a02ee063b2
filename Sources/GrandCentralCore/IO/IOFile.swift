// Room: IO/IOFile. What the channels of one descriptor share: whose turn it is.
//   looking ─┬→ unopened ─first operation→ opening ─┬→ open
//            └──────────────→ failed ←──────────────┘          by descriptor: open from the start
// Operations are in segments, which barriers end; only those of the first segment start:
//   streams  one at a time in each direction, in order. In both directions together where the bytes are stored: they
//            share the place at which the descriptor stands
//   randoms  beside each other, up to a bound
// A barrier runs when all of the first segment have ended, that is have handed their last handler over; then that
// segment goes. The lock is held while work is submitted, never while a system call moves bytes or a client's closure
// runs or dies. Order of locks: IOTable, this one, those of FileRing, FileWorkers, IOBuffers and of the rooms above.
import CLinux

final class IOFile: @unchecked Sendable {
  enum Stage: Equatable {
    case looking, unopened, opening, open
    case failed(Int32)
  }
  struct Path {
    /// With the NUL at its end. Not a String: names need not be UTF-8, and one that is not would become another.
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
  /// Guarded by the lock, as all that follows. -1: not opened.
  @Cell var descriptor: Int32
  @Cell var kind: FileKind
  @Cell var stage: Stage
  @Cell var channels: [IOChannel] = []
  /// They have left, and wait for the last to do so.
  @Cell var leavers: [IOChannel] = []
  @Cell var isOver = false
  @Cell private var segments = [IOSegment()]
  @Cell private var barrierRuns = false
  @Cell private var submitted = 0
  /// Started and not over.
  @Cell private var started: [IOOperation] = []
  @Cell private var randomsStarted = 0
  /// Whether some of them reads, or writes, where the descriptor stands.
  @Cell private var reads = false
  @Cell private var writes = false
  @Cell var waiters: [IOOperation.Direction: IOWaiter] = [:]
  /// It was blocking, and is to be so again.
  @Cell var restoresBlocking = false
  /// Whether reads are tried on the calling thread; `nil`: not known yet.
  @Cell var triesCache: Bool?
  /// The operation that its submitter runs itself if it starts at once.
  @Cell private var submitters: IOOperation?
  /// Which file the descriptor stood for.
  let identity: FileStatus?
  /// The process that it is of: see leaveToParent().
  @Cell private var generation = ForkGate.generation

  private static var mostRandoms: Int { 32 }

  /// By descriptor.
  init(_ descriptor: Int32, kind: FileKind, identity: FileStatus) {
    self.descriptor = descriptor
    self.kind = kind
    self.identity = identity
    path = nil
    stage = .open
  }

  /// By path.
  init(path: Path) {
    self.path = path
    descriptor = -1
    kind = .other
    identity = nil
    stage = .looking
  }

  /// Of a channel that cannot be made.
  init(descriptor: Int32, failed error: Int32) {
    self.descriptor = descriptor
    kind = .other
    path = nil
    identity = nil
    stage = .failed(error)
  }

  // MARK: What channels ask for. Any thread.

  func submit(_ operation: IOOperation) {
    let channel = operation.channel
    let step = lock.withLock { () -> IOStep? in
      leaveToParent()
      channel.unfinished += 1
      operation.sequence = submitted
      submitted += 1
      let refusal = channel.isClosed ? ECANCELED : channel.error
      if refusal != 0 {
        operation.state = .over
        operation.tellEnd(refusal, atEnd: false)
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

  /// `work` runs alone, after all that any channel was asked for before.
  func barrier(_ channel: IOChannel, _ work: @escaping () -> Void) {
    let isLate = lock.withLock {
      leaveToParent()
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
    let isLast = lock.withLock {
      leaveToParent()
      channel.isClosed = true
      if stops { stop(channel) }
      lookAfterWaiters()
      advance()
      return detachIfDone(channel)
    }
    if isLast { IOTable.shared.release(self) }
  }

  private func stop(_ channel: IOChannel) {
    // In the order in which they were asked for.
    let own = started.filter { $0.channel === channel }.sorted { $0.sequence < $1.sequence }
    for operation in own {
      operation.isStopped = true
      // One that somebody is running finds out.
      let isRunning =
        operation.state == .running
        && !(operation.maySleep && FileTransfers.shared.takeBack(operation))
      if !isRunning { end(operation, ECANCELED) }
    }
    endQueued(of: channel, ECANCELED)
  }

  // MARK: A descriptor that was closed by somebody else. With the lock held.

  /// The kernel tells nothing of a descriptor that is closed while it is waited for, and then the number may come to
  /// stand for another file. So it is looked at when there is occasion: somebody closes the channel, or wants more.
  private func lookAfterWaiters() {
    if waiters.values.contains(where: { $0.operation != nil }) && isLost { lose() }
  }

  /// Whether its number stands for another file by now, or for none.
  var isLost: Bool {
    guard path == nil, let identity else { return false }
    switch FileStatus.of(descriptor) {
    case .status(let now): return !identity.isSameFile(as: now)
    case .closed: return true
    case .unknown: return false
    }
  }

  /// Nobody is to read or write by that number any more: what waits and what is queued ends with EBADF.
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

  // MARK: Whose turn it is. With the lock held.

  func advance() {
    guard !isOver, let segment = segments.first, !barrierRuns else { return }
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
    barrierRuns = true
    segment.barrier = nil
    barrier.channel.barrierQueue.asyncUnsafe { [generation] in
      barrier.work()
      if ForkGate.generation == generation { self.barrierReturned(to: barrier.channel) }
    }
  }

  /// In a child that was forked, before anything is done with a channel of the parent's: what was under way is none of
  /// this process, and what is asked for ends with ECANCELED. What the parent is to run and to destroy stays in memory.
  private func leaveToParent() {
    if generation == ForkGate.generation { return }
    generation = ForkGate.generation
    _ = Unmanaged.passRetained(Inherited(segments, started, waiters))
    (segments, started, waiters, leavers) = ([IOSegment()], [], [:], [])
    (barrierRuns, reads, writes, randomsStarted) = (false, false, false, 0)
    stage = .failed(ECANCELED)
    for channel in channels {
      if let cleanup = channel.cleanup.take() { _ = Unmanaged.passRetained(Kept(cleanup)) }
      channel.error = ECANCELED
      channel.unfinished = 0
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
    while randomsStarted < Self.mostRandoms, let next = segment.randoms.popFirst() { start(next) }
  }

  private func start(_ operation: IOOperation) {
    operation.place = started.count
    started.append(operation)
    count(operation, starts: true)
    operation.state = .running
    startTimer(of: operation)
    if operation !== submitters { go(on: operation) }
  }

  private func count(_ operation: IOOperation, starts: Bool) {
    switch operation.direction {
    case _ where operation.offset != nil: randomsStarted += starts ? 1 : -1
    case .read: reads = starts
    case .write: writes = starts
    }
  }

  /// A running operation has no thread: finds it one.
  func go(on operation: IOOperation) {
    if operation.maySleep {
      FileTransfers.shared.submit(operation)
    } else {
      Runtime.shared.root(operation.band).asyncUnsafe { self.run(operation) }
    }
  }

  /// An operation that no thread runs has ended. The caller advances.
  func end(_ operation: IOOperation, _ error: Int32, atEnd: Bool = false) {
    if let place = operation.place.take() {
      // In no order: the last takes its place.
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
    operation.tellEnd(error, atEnd: atEnd)
  }

  /// For a channel that has turned out not to be possible.
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

  // MARK: What has come to an end. Any thread, without the lock.

  private func barrierReturned(to channel: IOChannel) {
    let isLast = lock.withLock {
      barrierRuns = false
      segments.removeFirst()
      channel.unfinished -= 1
      advance()
      return detachIfDone(channel)
    }
    if isLast { IOTable.shared.release(self) }
  }

  func handlerReturned(of operation: IOOperation, bytes: Int, wasLast: Bool) {
    // The handler has forked: this is the child, and the rest is the parent's.
    if operation.generation != ForkGate.generation { return }
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

  /// With the lock held. True: the last channel has left, and the caller releases the file.
  func detachIfDone(_ channel: IOChannel) -> Bool {
    guard channel.isClosed && channel.unfinished == 0 && !channel.isDetached else { return false }
    channel.isDetached = true
    channels.removeAll { $0 === channel }
    if channel.leavesAlone && !channels.isEmpty {
      channel.submitCleanup(0)
    } else {
      leavers.append(channel)
    }
    return channels.isEmpty
  }
}

/// What a child keeps for nobody: see leaveToParent().
private final class Inherited {
  let segments: [IOSegment]
  let started: [IOOperation]
  let waiters: [IOOperation.Direction: IOWaiter]
  init(
    _ segments: [IOSegment], _ started: [IOOperation],
    _ waiters: [IOOperation.Direction: IOWaiter]
  ) {
    (self.segments, self.started, self.waiters) = (segments, started, waiters)
  }
}

private final class Kept {
  let work: (Int32) -> Void
  init(_ work: @escaping (Int32) -> Void) { self.work = work }
}
