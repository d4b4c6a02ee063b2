// Room: IO/IOFile+Run. One operation on its way: system calls without the lock, what came of them with it.

/// One system call.
struct IOStep {
  let descriptor: Int32
  let kind: FileKind
  let offset: Int64?
  /// From which byte of the operation.
  let start: Int
  let count: Int

  /// How many bytes a read asks for, which memory is made for: of a file no more than it has left, as most are far
  /// smaller than what a large one is read by. Looked up each time, since files grow and shrink; of those at their end,
  /// and of those that tell no size, as in /proc, a little more is asked for. A system call, not for under a lock.
  var readCount: Int {
    guard kind == .stored && count > IOBuffers.smallBytes,
      let left = Transfer.bytesLeft(descriptor, from: offset)
    else { return count }
    return min(count, left > 0 ? left : IOBuffers.smallBytes)
  }

  /// Where the bytes of a write are, as many as there is room for. Returns how many stretches.
  func gather(
    _ data: DispatchData, into stretches: UnsafeMutableBufferPointer<Transfer.Stretch>
  ) -> Int {
    var used = 0
    _ = data.forEachRegion(in: start..<start + count) { bytes, _, stop in
      stretches[used] = Transfer.Stretch(start: bytes.baseAddress, bytes: bytes.count)
      used += 1
      stop = used == stretches.count
    }
    return used
  }
}

extension IOFile {
  private static var stepsInTurn: Int { 16 }

  /// Moves an operation on, which is running, until it waits or has ended. Takes turns with others.
  func run(_ operation: IOOperation) {
    for _ in 0..<Self.stepsInTurn {
      guard let step = lock.withLock({ nextStep(of: operation) }) else { return }
      let goesOn: Bool
      switch operation.direction {
      case .read:
        let room = step.readCount
        let buffer = buffers.take(room)
        let outcome = perform(step) {
          Transfer.read(step.descriptor, into: buffer.start, room, at: step.offset)
        }
        var data = DispatchData.empty
        if case .bytes(let count) = outcome, count > 0 { data = buffer.data(count, of: room) }
        goesOn = lock.withLock { take(outcome, data, of: operation) }
      case .write:
        let outcome = perform(step) { write(step, of: operation.data) }
        goesOn = lock.withLock { take(outcome, .empty, of: operation) }
      }
      if !goesOn { return }
    }
    lock.withLock { go(on: operation) }
  }

  // MARK: What is in memory

  /// With the lock held.
  func mayTryCache() -> Bool {
    if let triesCache { return triesCache }
    guard stage == .open else { return false }
    let tries = !Transfer.readsPastCache(descriptor)
    triesCache = tries
    return tries
  }

  /// Makes a read on the calling thread, without waiting for the disk: most small reads are of
  /// bytes in memory, and to hand one over costs ten times as much as the copy. What is not in
  /// memory takes the usual way, and so does whatever goes wrong: a read that failed has moved
  /// nothing.
  func readCached(_ step: IOStep, of operation: IOOperation) {
    guard let offset = step.offset else { engineFault("A read without a place was tried.") }
    let buffer = buffers.take(step.count)
    let outcome = Transfer.readCached(
      step.descriptor, into: buffer.start, step.count, at: offset)
    if case .bytes(let count) = outcome, count > 0 {
      return stepMoved(count, buffer.data(count, of: step.count), of: operation)
    }
    lock.withLock {
      // EOPNOTSUPP: not by this file system. ENOSYS, EPERM: not in this sandbox.
      if case .failed(let error) = outcome, error != EINTR { triesCache = false }
      if !settles(operation) { go(on: operation) }
    }
  }

  private func perform(_ step: IOStep, _ call: () -> Transfer.Outcome) -> Transfer.Outcome {
    // Others do not sleep.
    step.kind == .stored || step.offset != nil ? Blocking.announced(currentThread(), call) : call()
  }

  private func write(_ step: IOStep, of data: DispatchData) -> Transfer.Outcome {
    withUnsafeTemporaryAllocation(of: Transfer.Stretch.self, capacity: Transfer.mostStretches) {
      stretches in
      let used = step.gather(data, into: stretches)
      return withExtendedLifetime(data) {
        Transfer.write(
          step.descriptor, UnsafeBufferPointer(rebasing: stretches[..<used]), at: step.offset,
          kind: step.kind)
      }
    }
  }

  /// For a transfer that somebody else has made.
  func stepMoved(_ bytes: Int, _ data: DispatchData, of operation: IOOperation) {
    lock.withLock {
      if take(.bytes(bytes), data, of: operation) && !settles(operation) { go(on: operation) }
    }
  }

  // MARK: With the lock held

  /// True: a running operation has ended, or waits for its handlers.
  private func settles(_ operation: IOOperation) -> Bool {
    if operation.isStopped || operation.moved == operation.length {
      end(operation, operation.isStopped ? ECANCELED : 0)
      advance()
      return true
    }
    if case .failed(let error) = stage {
      end(operation, error)
      advance()
      return true
    }
    if operation.isAheadOfHandlers { operation.state = .parked }
    return operation.state == .parked
  }

  func nextStep(of operation: IOOperation) -> IOStep? {
    if settles(operation) { return nil }
    // An offset that is too large is the kernel's to refuse: EINVAL.
    let offset = operation.offset.map {
      let (place, overflows) = $0.addingReportingOverflow(Int64(operation.moved))
      return overflows ? -1 : place
    }
    return IOStep(
      descriptor: descriptor, kind: kind, offset: offset, start: operation.moved,
      count: operation.nextCount(kind))
  }

  /// False: the operation has ended, or waits.
  private func take(
    _ outcome: Transfer.Outcome, _ data: DispatchData, of operation: IOOperation
  ) -> Bool {
    switch outcome {
    case .bytes(0):
      end(operation, 0, atEnd: true)
    case .bytes(let count):
      operation.moved += count
      if operation.direction == .read { operation.pending.appendRead(data) }
      // Whether it is over is found at the next step.
      if operation.moved < operation.length && operation.isDue { operation.tell() }
      return true
    case .wouldWait where operation.isStopped: return true
    case .wouldWait where operation.offset != nil || kind == .stored:
      end(operation, EAGAIN)
    case .wouldWait where operation.takesWhatIsThere && operation.moved > 0:
      end(operation, 0)
    case .wouldWait:
      operation.state = .waiting
      wait(for: operation)
      return false
    case .failed(let error):
      end(operation, error)
    }
    advance()
    return false
  }
}

// MARK: Waiting for the descriptor

/// A source of one direction. It is suspended while no operation waits.
final class IOWaiter: @unchecked Sendable {
  let source: any DispatchSourceProtocol
  /// Guarded by the file's lock.
  @Cell var operation: IOOperation?
  @Cell var isListening = true

  init(_ source: any DispatchSourceProtocol) { self.source = source }
}

extension IOFile {
  /// With the lock held.
  private func wait(for operation: IOOperation) {
    let waiter = waiters[operation.direction] ?? makeWaiter(operation.direction)
    waiter.operation = operation
    if !waiter.isListening {
      waiter.isListening = true
      waiter.source.resume()
    }
  }

  private func makeWaiter(_ direction: IOOperation.Direction) -> IOWaiter {
    let source: any DispatchSourceProtocol =
      switch direction {
      case .read: DispatchSource.makeReadSource(fileDescriptor: descriptor)
      case .write: DispatchSource.makeWriteSource(fileDescriptor: descriptor)
      }
    let waiter = IOWaiter(source)
    waiters[direction] = waiter
    // The file is kept until its last channel has left, when the source is cancelled.
    source.setEventHandler { self.becameReady(direction) }
    source.activate()
    return waiter
  }

  /// On the source.
  private func becameReady(_ direction: IOOperation.Direction) {
    let operation = lock.withLock { () -> IOOperation? in
      guard let waiter = waiters[direction], let operation = waiter.operation.take(),
        operation.state == .waiting
      else { return nil }
      operation.state = .running
      return operation
    }
    if let operation { run(operation) }
    lock.withLock {
      // Otherwise it would tell again and again what nobody wants to know. After the end nobody may suspend it.
      guard !isOver, let waiter = waiters[direction], waiter.operation?.state != .waiting else {
        return
      }
      waiter.operation = nil
      if waiter.isListening {
        waiter.isListening = false
        waiter.source.suspend()
      }
    }
  }

  /// With the lock held, when the file is over or lost: nothing is listened to when this returns.
  func stopListening() {
    for waiter in waiters.values {
      waiter.operation = nil
      waiter.source.cancel()
      if !waiter.isListening { waiter.source.resume() }
    }
    waiters = [:]
  }
}
