// Room: IO/IOFile+Run. The execution of one operation: system calls without the lock, their results
// with it.

/// The arguments of one system call.
struct IOStep {
  let descriptor: Int32
  let kind: FileKind
  let offset: Int64?
  /// The index of the first byte within the operation.
  let start: Int
  let count: Int
  /// Writes that the same call makes, after this one: see IOFile+Join.
  var followers: [IOOperation] = []

  /// The number of bytes that a read asks for and allocates. For a file it is at most what the file
  /// has left, because most files are far smaller than a full piece. The size is looked up each
  /// time, since files grow and shrink. A file at its end, or one without a size as in /proc, is
  /// asked for a small buffer. Makes a system call: do not call under a lock.
  var readCount: Int {
    guard kind == .stored && count > IOBuffers.smallBytes,
      let left = Transfer.bytesLeft(descriptor, from: offset)
    else { return count }
    return min(count, left > 0 ? left : IOBuffers.smallBytes)
  }

  /// Writes the addresses of the bytes to `stretches`, as many as fit. Returns how many it wrote.
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

  /// Runs an operation until it waits or ends, and then those that follow it, each of which would
  /// otherwise need a thread to be found. Yields to other work after a number of steps.
  func run(_ operation: IOOperation) {
    var move = lock.withLock { nextMove(of: operation) { operation } }
    for turn in 1...Self.stepsInTurn {
      guard let (operation, step) = move else { return }
      let (outcome, data) = transfer(step, of: operation)
      move = lock.withLock {
        nextMove(of: operation, yields: turn == Self.stepsInTurn) {
          step.followers.isEmpty
            ? take(outcome, data, of: operation) ? operation : nil
            : take(outcome, of: operation, step.followers)
        }
      }
    }
  }

  private func transfer(
    _ step: IOStep, of operation: IOOperation
  ) -> (Transfer.Outcome, DispatchData) {
    switch operation.direction {
    case .read:
      let room = step.readCount
      let buffer = buffers.take(room)
      let outcome = perform(step) {
        Transfer.read(step.descriptor, into: buffer.start, room, at: step.offset)
      }
      guard case .bytes(let count) = outcome, count > 0 else { return (outcome, .empty) }
      return (outcome, buffer.data(count, of: room))
    case .write where !step.followers.isEmpty: return (writeJoined(step, operation.data), .empty)
    case .write: return (perform(step) { write(step, of: operation.data) }, .empty)
    }
  }

  // MARK: Reads from the page cache

  /// Whether small reads may be tried on the calling thread. Call with the lock held.
  func mayTryCache() -> Bool {
    if let triesCache { return triesCache }
    guard stage == .open else { return false }
    let tries = !Transfer.readsPastCache(descriptor)
    triesCache = tries
    return tries
  }

  /// Reads on the calling thread without waiting for the disk. Most small reads find their bytes in
  /// memory, and a hand-off costs ten times as much as the copy. Reads that are not in memory, and
  /// all failed reads, take the usual way: a failed read has moved nothing.
  func readCached(_ step: IOStep, of operation: IOOperation) {
    guard let offset = step.offset else { engineFault("A read without a place was tried.") }
    let buffer = buffers.take(step.count)
    let outcome = Transfer.readCached(
      step.descriptor, into: buffer.start, step.count, at: offset)
    if case .bytes(let count) = outcome, count > 0 {
      return stepMoved(count, buffer.data(count, of: step.count), of: operation)
    }
    lock.withLock {
      // EOPNOTSUPP: the file system cannot do it. ENOSYS, EPERM: the sandbox forbids it.
      if case .failed(let error) = outcome, error != EINTR { triesCache = false }
      if !settles(operation) { go(on: operation) }
    }
  }

  private func perform(_ step: IOStep, _ call: () -> Transfer.Outcome) -> Transfer.Outcome {
    // Calls on other descriptors do not sleep.
    step.kind == .stored || step.offset != nil
      ? Blocking.announced(currentThread(), BoardWait(.file), call) : call()
  }

  private func write(_ step: IOStep, of data: DispatchData) -> Transfer.Outcome {
    withUnsafeTemporaryAllocation(of: Transfer.Stretch.self, capacity: Transfer.maxStretches) {
      stretches in
      let used = step.gather(data, into: stretches)
      return withExtendedLifetime(data) {
        Transfer.write(
          step.descriptor, UnsafeBufferPointer(rebasing: stretches[..<used]), at: step.offset,
          kind: step.kind)
      }
    }
  }

  /// Records a transfer that another thread, or the kernel, has made.
  func stepMoved(_ bytes: Int, _ data: DispatchData, of operation: IOOperation) {
    lock.withLock {
      if take(.bytes(bytes), data, of: operation) && !settles(operation) { go(on: operation) }
    }
  }

  // MARK: Results. With the lock held.

  /// Ends or parks a running operation if it is time to. True: it has ended or waits for its
  /// handlers.
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
    settles(operation) ? nil : step(of: operation)
  }

  private func step(of operation: IOOperation) -> IOStep {
    // An offset that overflows becomes -1, which the kernel refuses with EINVAL.
    let offset = operation.offset.map {
      let (place, overflows) = $0.addingReportingOverflow(Int64(operation.moved))
      return overflows ? -1 : place
    }
    return IOStep(
      descriptor: descriptor, kind: kind, offset: offset, start: operation.moved,
      count: operation.nextCount(kind))
  }

  /// What the thread that runs `operation` does next: one system call. `unfinished` returns the
  /// operation if it has not ended. If it has, the thread runs its successor, which that end has
  /// started. `yields`: another turn does the rest.
  private func nextMove(
    of operation: IOOperation, yields: Bool = false, _ unfinished: () -> IOOperation?
  ) -> (operation: IOOperation, step: IOStep)? {
    runner = operation
    defer { runner = nil }
    var next = unfinished()
    while let operation = next ?? successor.take() {
      next = nil
      if settles(operation) { continue }
      if yields {
        go(on: operation)
        return nil
      }
      var step = step(of: operation)
      step.followers = takeFollowers(of: operation, step)
      return (operation, step)
    }
    return nil
  }

  /// Records the result of one step. False: the operation has ended or waits.
  func take(
    _ outcome: Transfer.Outcome, _ data: DispatchData, of operation: IOOperation
  ) -> Bool {
    switch outcome {
    case .bytes(0):
      end(operation, 0, atEnd: true)
    case .bytes(let count):
      operation.moved += count
      if operation.direction == .read { operation.pending.appendRead(data) }
      if operation.extent == .oneTransfer {
        end(operation, 0)
        break
      }
      // The next step finds out whether the operation has ended.
      if operation.moved < operation.length && operation.isDue { operation.deliver() }
      return true
    case .wouldWait where operation.isStopped: return true
    case .wouldWait where operation.offset != nil || kind == .stored:
      end(operation, EAGAIN)
    case .wouldWait where operation.extent == .whatIsThere && operation.moved > 0:
      end(operation, 0)
    case .wouldWait:
      // Lost meanwhile: the number may be another file's.
      if case .failed(let error) = stage {
        end(operation, error)
        break
      }
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

/// The source of one direction, suspended while no operation waits.
final class IOWaiter: @unchecked Sendable {
  let source: any DispatchSourceProtocol
  /// The operation that waits. Guarded by the lock of the file.
  @Cell var operation: IOOperation?
  @Cell var isListening = true

  init(_ source: any DispatchSourceProtocol) { self.source = source }
}

extension IOFile {
  /// Waits for the descriptor on behalf of an operation. Call with the lock held.
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
    // The source keeps the file alive until the last channel detaches and the source is cancelled.
    source.setEventHandler { self.becameReady(direction) }
    source.activate()
    return waiter
  }

  /// Runs the waiting operation. Called on the source.
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
      // Suspends the source if no operation waits; otherwise it would fire again and again. After
      // the end the source is already cancelled and must not be suspended.
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

  /// Cancels the sources of a file that is over or lost. Call with the lock held. No operation
  /// waits when it returns.
  func stopListening() {
    for waiter in waiters.values {
      waiter.operation = nil
      waiter.source.cancel()
      if !waiter.isListening { waiter.source.resume() }
    }
    waiters = [:]
  }
}
