// Room: IO/FileRing. Small transfers at offsets, made by io_uring.
//   waiting ─ring thread→ in a slot, held by the kernel ─completion→ the next step, or over
//                                                       └─refused→ FileWorkers
// One thread submits, and never runs client code: to finish delayed transfers the kernel interrupts
// the system calls of the thread that submitted them, and it cancels the transfers of a thread that
// exits (io_uring_cancelation(7)). One system call submits everything that waits. Transfers that
// need no waiting are complete when it returns; the ring thread continues them. The other
// completions signal the eventfd, which is in the poller's set; a thread of the poller continues
// them.
// Only successes count. A worker repeats every failed transfer, whatever the reason: no memory, a
// cancellation, a file that the ring does not support. It makes the system call that all other
// descriptors use, so errors are the same with and without the ring, and no errno of the ring needs
// a rule. A failed transfer has moved nothing and carries its offset, so the repetition is safe.
// The slots bound the number of transfers in the kernel, so there is always room for completions.
//
// Sleep and wake. The lock guards everything except the eventfd:
//   awake ─nothing to do→ asleep ─submitted, cancelled, or a slot is free→ awake, with one grant
// A thread that brings work takes the lock. Either it finds the ring thread asleep and wakes it, or
// the ring thread has yet to look for work under the same lock. So no work is left behind. The
// waker clears `isAsleep`, so each mark gets one grant. A grant that arrives after a timeout
// causes one more look.
// Before the ring thread sleeps it enables the eventfd and then looks for completions. It finds the
// earlier ones; the later ones signal (CLinux/Rings.c). The thread that receives the signal wakes
// the ring thread if slots became free.
// Transfers that the kernel does not accept now go to workers. Only the ring can cancel, so a
// rejected cancellation is retried at the next wake-up, or after 10 ms. If the program closes the
// engine's descriptors, workers make all transfers from then on, and the ring thread looks every 10
// ms for those that the kernel has.
// Model: Verification/Models/Scenes/FileRingModels. Lock order: IOFile's, this one.

final class FileRing: @unchecked Sendable {
  private struct Slot {
    var generation: UInt32 = 0
    var operation: IOOperation?
    var count = 0
    var buffer: IOBuffer?
    /// Allocated at the first write of the slot, and kept.
    var stretches: UnsafeMutablePointer<Transfer.Stretch>?
  }
  /// The outcome of one transfer.
  private struct Done {
    let operation: IOOperation
    let result: Int32
    let count: Int
    let buffer: IOBuffer?
  }

  private let ring: TransferRing
  private let pool: Pool
  private let workers: FileWorkers
  private let lock = Lock()
  /// The lock guards this and the properties below, up to `refusal`.
  @Cell private var waiting = FrontList<IOOperation>()
  @Cell private var slots: [Slot]
  @Cell private var free: [Int]
  @Cell private var cancels: [UInt64] = []
  /// Cancellations that the kernel did not accept.
  @Cell private var lateCancels: [UInt64] = []
  /// The thread exists or is being made.
  @Cell private var hasThread = false
  @Cell private var thread: ThreadContext?
  /// The thread sleeps or is about to, and no thread has woken it since.
  @Cell private var isAsleep = false
  /// The errno with which the kernel refuses further use of the ring, or 0.
  @Cell private var refusal: Int32 = 0
  /// The program has closed the eventfd: no thread of the poller takes completions any more.
  @Cell private var isDeaf = false
  /// Used by the ring thread alone.
  @Cell private var isWakeDescriptorEnabled = true

  static var slotCount: Int { 128 }
  /// The largest transfer for which a hand-off costs more than the copy. Larger ones go to workers,
  /// which copy in parallel on several CPUs, while the ring has one thread.
  static var maxBytes: Int { 65536 }

  private static var secondTryNanoseconds: UInt64 { 10_000_000 }

  /// - Parameters:
  ///   - slotCount: at most the number of entries of the ring.
  ///   - workers: make the transfers that the ring cannot.
  init(
    _ ring: TransferRing, pool: Pool, slotCount: Int = FileRing.slotCount, workers: FileWorkers
  ) {
    self.ring = ring
    self.pool = pool
    self.workers = workers
    slots = Array(repeating: Slot(), count: slotCount)
    free = Array((0..<slotCount).reversed())
  }

  // MARK: Submission. Any thread, with the lock of the operation's file

  /// Queues a running operation for the ring. False: the ring cannot take it.
  func submit(_ operation: IOOperation) -> Bool {
    if TransferRing.isInherited { return false }
    let (isTaken, wakes) = lock.withLock {
      guard refusal == 0, startThread() else { return (false, false) }
      waiting.append(operation)
      return (true, canWork && wakesThread())
    }
    if wakes { wakeThread() }
    return isTaken
  }

  /// Withdraws or cancels a running operation. True: it has not begun and never will.
  func takeBack(_ operation: IOOperation) -> Bool {
    let (isTaken, wakes) = lock.withLock {
      if !waiting.take(where: { $0 === operation }).isEmpty { return (true, false) }
      guard let slot = slots.firstIndex(where: { $0.operation === operation }) else {
        return (false, false)
      }
      let key = key(of: slot)
      if !cancels.contains(key) { cancels.append(key) }
      return (false, wakesThread())
    }
    if wakes { wakeThread() }
    return isTaken
  }

  /// The errno with which the kernel refuses further use of the ring, or 0.
  var error: Int32 { lock.withLock { refusal } }

  /// The number of transfers in the kernel, at the moment of the call.
  var busySlots: Int { lock.withLock { slots.count - free.count } }

  // MARK: With the lock held

  private var canWork: Bool { !cancels.isEmpty || (!waiting.isEmpty && !free.isEmpty) }

  private func wakesThread() -> Bool {
    defer { isAsleep = false }
    return isAsleep
  }

  private func key(of slot: Int) -> UInt64 {
    UInt64(slots[slot].generation) << 32 | UInt64(slot)
  }

  /// Frees a slot. `nil`: it was free already.
  private func clear(_ slot: Int) -> Done? {
    guard let operation = slots[slot].operation.take() else { return nil }
    slots[slot].generation &+= 1
    free.append(slot)
    return Done(
      operation: operation, result: 0, count: slots[slot].count, buffer: slots[slot].buffer.take()
    )
  }

  private func startThread() -> Bool {
    if hasThread { return true }
    if pool.isRefused { return false }
    let start = Unmanaged.passRetained(self)
    let error = pool.spawn(
      { argument in
        // SAFETY: `startThread` passes a retained reference, which this thread takes over.
        let ring = Unmanaged<FileRing>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
        ring.run()
      }, start.toOpaque(), stackBytes: 0)
    if error == 0 {
      hasThread = true
      return true
    }
    start.release()
    pool.reportRefusal(error)
    return false
  }

  private func wakeThread() {
    // Written before the thread first set `isAsleep`.
    if let thread { Parker.grant(thread) }
  }

  // MARK: The ring thread

  private func run() -> Never {
    let own = currentThread()
    // No fork happens but in sleep(): see ForkGate.inside().
    ForkGate.enter(own)
    nameThread(ThreadName("gc-files"))
    lock.withLock { thread = own }
    while true {
      Parker.prepare(own)
      let work = lock.withLock { () -> (operations: [IOOperation], cancels: [UInt64])? in
        guard canWork else {
          isAsleep = true
          return nil
        }
        var operations: [IOOperation] = []
        while operations.count < free.count, let next = waiting.popFirst() {
          operations.append(next)
        }
        defer { (cancels, lateCancels) = ([], []) }
        return (operations, cancels + lateCancels)
      }
      if let work {
        enableWakeDescriptor(false)
        let added = work.cancels.prefix { ring.addCancel(of: $0) }
        for operation in work.operations { place(operation) }
        enter(cancelling: added, later: work.cancels.dropFirst(added.count))
        finish()
      } else {
        enableWakeDescriptor(true)
        // Finds completions that arrived before the eventfd was enabled.
        finish()
        sleep(own)
      }
    }
  }

  private func sleep(_ own: ThreadContext) {
    let isComplete = lock.withLock {
      lateCancels.isEmpty && !(isDeaf && free.count < slots.count)
    }
    let deadline = isComplete ? nil : Deadline.monotonic(nanoseconds: Self.secondTry)
    if !ForkGate.outside(own, { Parker.sleep(own, until: deadline) }) {
      lock.withLock {
        isAsleep = false
        (cancels, lateCancels) = (cancels + lateCancels, [])
      }
    }
  }

  private static var secondTry: UInt64 { Clock.monotonicNanoseconds() + secondTryNanoseconds }

  private func enableWakeDescriptor(_ enables: Bool) {
    if isWakeDescriptorEnabled != enables { ring.enableWakeDescriptor(enables) }
    isWakeDescriptorEnabled = enables
  }

  /// Puts an operation in a slot and adds it to the ring. Holds the lock of the file meanwhile. So
  /// a thread that stops the operation finds it waiting or in a slot, or this function sees
  /// `isStopped`.
  private func place(_ operation: IOOperation) {
    let file = operation.file
    file.lock.withLock {
      guard let step = file.nextStep(of: operation), let offset = step.offset else { return }
      let buffer = operation.direction == .read ? file.buffers.take(step.count) : nil
      let isPlaced = lock.withLock { () -> Bool in
        guard let slot = free.popLast() else { return false }
        slots[slot].operation = operation
        slots[slot].count = step.count
        slots[slot].buffer = buffer
        let key = key(of: slot)
        let isAdded =
          if let buffer {
            ring.addRead(
              step.descriptor, into: buffer.start, step.count, at: offset, key: key,
              priority: .ofRequests(in: operation.band))
          } else {
            addWrite(step, of: operation, at: offset, key: key, slot)
          }
        if !isAdded { _ = clear(slot) }
        return isAdded
      }
      if !isPlaced { workers.submit(operation) }
    }
  }

  private func addWrite(
    _ step: IOStep, of operation: IOOperation, at offset: Int64, key: UInt64, _ slot: Int
  ) -> Bool {
    let stretches =
      slots[slot].stretches ?? .allocate(capacity: Transfer.maxStretches)
    slots[slot].stretches = stretches
    let count = step.gather(
      operation.data,
      into: UnsafeMutableBufferPointer(start: stretches, count: Transfer.maxStretches))
    return ring.addWrite(
      step.descriptor, stretches, count, at: offset, key: key,
      priority: .ofRequests(in: operation.band))
  }

  /// Enters the ring. The cancellations of `keys` were added first; the ring had no room for
  /// `others`.
  private func enter(cancelling keys: ArraySlice<UInt64>, later others: ArraySlice<UInt64>) {
    let entered = ring.enter()
    if !others.isEmpty { lock.withLock { lateCancels += others } }
    if entered == .all { return }
    let (left, isNews) = lock.withLock { () -> ([Done], Bool) in
      var left: [Done] = []
      var cancelsLeft = 0
      while let key = ring.takeBack() {
        if key == TransferRing.noKey {
          cancelsLeft += 1
        } else if let done = clear(Int(key & 0xffff_ffff)) {
          left.append(done)
        }
      }
      guard case .refused(let error) = entered else {
        lateCancels += keys.suffix(cancelsLeft)
        return (left, false)
      }
      defer { refusal = error }
      while let next = waiting.popFirst() {
        left.append(Done(operation: next, result: 0, count: 0, buffer: nil))
      }
      return (left, refusal == 0)
    }
    for done in left { workers.submit(done.operation) }
    guard case .refused(let error) = entered, isNews else { return }
    report(
      .ringLost,
      """
      GRAND CENTRAL: The system does not let the process use its io_uring any more (errno \
      \(error); \
      io_uring_enter(2)). Files are read and written by workers from now on.
      """)
  }
}

// MARK: Completions. The ring thread and those of the poller

extension FileRing: ReadinessReceiver {
  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { finish() }

  /// Workers make what waits. The ring thread looks for what the kernel has, until that is over.
  func descriptorWasClosed() -> (any ResourceRetry)? {
    let (left, wakes) = lock.withLock { () -> ([IOOperation], Bool) in
      var left: [IOOperation] = []
      ring.lose()
      isDeaf = true
      if refusal == 0 { refusal = EBADF }
      while let next = waiting.popFirst() { left.append(next) }
      return (left, wakesThread())
    }
    for operation in left { workers.submit(operation) }
    if wakes { wakeThread() }
    return nil
  }

  private func finish() {
    let (all, wakes) = lock.withLock { () -> ([Done], Bool) in
      var all: [Done] = []
      while let completion = ring.next() {
        let slot = Int(completion.key & 0xffff_ffff)
        guard completion.key != TransferRing.noKey, key(of: slot) == completion.key,
          let done = clear(slot)
        else { continue }
        all.append(
          Done(
            operation: done.operation, result: completion.result, count: done.count,
            buffer: done.buffer))
      }
      // The ring thread may sleep because all slots were in use.
      return (all, !all.isEmpty && canWork && wakesThread())
    }
    if wakes { wakeThread() }
    for done in all { finish(done) }
  }

  private func finish(_ done: Done) {
    let operation = done.operation
    let bytes = Int(done.result)
    switch operation.direction {
    // write(2) returns 0 only for an empty write: a worker finds the error.
    case _ where bytes < 0, .write where bytes == 0: workers.submit(operation)
    case .write: operation.file.stepMoved(bytes, .empty, of: operation)
    case .read:
      let data = done.buffer.map { bytes == 0 ? .empty : $0.data(bytes, of: done.count) }
      operation.file.stepMoved(bytes, data ?? .empty, of: operation)
    }
  }
}
