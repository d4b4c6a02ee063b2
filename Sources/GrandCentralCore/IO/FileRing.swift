// Room: IO/FileRing. Transfers that a ring does: small ones, at places of their own, of files.
//   waiting ─the ring's thread→ in a slot, the kernel's ─completion→ the next step, or over
//                                                      └─refused→ FileWorkers
// One thread submits, and never runs anything of a client's: the kernel interrupts the system calls of whoever has
// submitted to finish what had to wait, and ends what an exiting thread has submitted (io_uring_cancelation(7)). It takes
// all that waits in one system call. What needs no waiting is complete when that returns, and goes on from there; all
// else rings the bell, which is in the poller's set, and goes on from a thread of the poller.
// Only success is believed. Whatever the ring says went wrong, for want of memory, because it was cancelled, or because
// the file is of a kind that it does not know, a worker does again, by the system call that every other kind of
// descriptor sees too: so errors are the same with and without it, and no errno of the ring needs a rule of its own.
// A transfer that failed has moved nothing, and has its place with it, so to repeat it is safe.
// Slots bound what the kernel has at a time, so there is always room for completions.
//
// Sleep and wake, all under the lock but the bell:
//   awake ─nothing to do→ asleep ─submitted, cancelled, or a slot is free→ awake, with one grant
// Whoever brings work finds the thread asleep and wakes it, or it has yet to look, under the same lock: no work is left
// behind. Whoever wakes it takes the mark, so there is one grant for each mark; a grant that comes late, after a time-out,
// only makes it look once more. Before it sleeps it lets the bell ring and then looks for completions: those that
// came earlier are found, later ones ring (CLinux/Rings.c), and who hears them wakes it if they made room.
// What the kernel does not take now goes to workers, but for cancelling, which only the ring can do: that is
// tried again with whatever wakes the thread, or after a while.
// Model: Tests/Models/Scenes/FileRingModels.
// Order of locks: IOFile's, this one.

final class FileRing: @unchecked Sendable {
  private struct Slot {
    var generation: UInt32 = 0
    var operation: IOOperation?
    var count = 0
    var buffer: IOBuffer?
    /// Made when it is first needed, and kept.
    var stretches: UnsafeMutablePointer<Transfer.Stretch>?
  }
  /// What became of one.
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
  /// Guarded by the lock, as all that follows.
  @Cell private var waiting = FrontList<IOOperation>()
  @Cell private var slots: [Slot]
  @Cell private var free: [Int]
  @Cell private var cancels: [UInt64] = []
  /// Those that the kernel did not take.
  @Cell private var lateCancels: [UInt64] = []
  /// The thread is there, or is being made.
  @Cell private var hasThread = false
  @Cell private var thread: ThreadContext?
  /// It sleeps, or is about to, and nobody has woken it since.
  @Cell private var isAsleep = false
  /// The kernel does not let this process enter any more: an errno.
  @Cell private var refusal: Int32 = 0
  /// The thread's own.
  @Cell private var bellRings = true

  static var slotCount: Int { 128 }
  /// Up to here the hand-over costs more than the copy. Of more than that, several workers copy at a time, on CPUs of
  /// their own, while the ring's thread is one.
  static var mostBytes: Int { 65536 }

  private static var secondTryNanoseconds: UInt64 { 10_000_000 }

  /// - Parameters:
  ///   - slotCount: no more than the ring has entries.
  ///   - workers: take what the ring cannot do.
  init(
    _ ring: TransferRing, pool: Pool, slotCount: Int = FileRing.slotCount, workers: FileWorkers
  ) {
    self.ring = ring
    self.pool = pool
    self.workers = workers
    slots = Array(repeating: Slot(), count: slotCount)
    free = Array((0..<slotCount).reversed())
  }

  // MARK: Any thread, with the lock of the operation's file

  /// A running operation has no thread. False: not by the ring.
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

  /// A running operation is to end soon. True: it has not begun, and never will.
  func takeBack(_ operation: IOOperation) -> Bool {
    let (isTaken, wakes) = lock.withLock {
      if !waiting.take(where: { $0 === operation }).isEmpty { return (true, false) }
      guard let place = slots.firstIndex(where: { $0.operation === operation }) else {
        return (false, false)
      }
      let key = key(of: place)
      if !cancels.contains(key) { cancels.append(key) }
      return (false, wakesThread())
    }
    if wakes { wakeThread() }
    return isTaken
  }

  /// Why the kernel does not let it be used any more; 0: it does.
  var error: Int32 { lock.withLock { refusal } }

  /// How many the kernel has, at least at the moment.
  var busySlots: Int { lock.withLock { slots.count - free.count } }

  // MARK: With the lock held

  private var canWork: Bool { !cancels.isEmpty || (!waiting.isEmpty && !free.isEmpty) }

  private func wakesThread() -> Bool {
    defer { isAsleep = false }
    return isAsleep
  }

  private func key(of place: Int) -> UInt64 {
    UInt64(slots[place].generation) << 32 | UInt64(place)
  }

  /// Nobody is there any more.
  private func clear(_ place: Int) -> Done? {
    guard let operation = slots[place].operation.take() else { return nil }
    slots[place].generation &+= 1
    free.append(place)
    return Done(
      operation: operation, result: 0, count: slots[place].count, buffer: slots[place].buffer.take()
    )
  }

  private func startThread() -> Bool {
    if hasThread { return true }
    if pool.isRefused { return false }
    let start = Unmanaged.passRetained(self)
    let error = pool.spawn(
      { argument in
        // SAFETY: the reference passed below, owned by this thread.
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
    // Written before it first said that it sleeps.
    if let thread { Parker.grant(thread) }
  }

  // MARK: The thread

  private func run() -> Never {
    let own = currentThread()
    nameThread(ThreadName("gc-files"))
    // No handler of the program's is to run here.
    setBlockedSignals(.max)
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
        letBell(ring: false)
        let added = work.cancels.prefix { ring.addCancel(of: $0) }
        for operation in work.operations { place(operation) }
        enter(cancelling: added, later: work.cancels.dropFirst(added.count))
        finish()
      } else {
        letBell(ring: true)
        // What came before it could ring.
        finish()
        sleep(own)
      }
    }
  }

  private func sleep(_ own: ThreadContext) {
    let isComplete = lock.withLock { lateCancels.isEmpty }
    if isComplete {
      _ = Parker.sleep(own)
    } else if !Parker.sleep(own, until: .monotonic(nanoseconds: Self.secondTry)) {
      lock.withLock {
        isAsleep = false
        (cancels, lateCancels) = (cancels + lateCancels, [])
      }
    }
  }

  private static var secondTry: UInt64 { Clock.monotonicNanoseconds() + secondTryNanoseconds }

  private func letBell(ring rings: Bool) {
    if bellRings != rings { ring.setBell(rings) }
    bellRings = rings
  }

  /// The lock of its file is held until it has a slot, so whoever stops it finds it waiting, or in a slot, or it sees
  /// itself that it was stopped.
  private func place(_ operation: IOOperation) {
    let file = operation.file
    file.lock.withLock {
      guard let step = file.nextStep(of: operation), let offset = step.offset else { return }
      let buffer = operation.direction == .read ? file.buffers.take(step.count) : nil
      let isPlaced = lock.withLock { () -> Bool in
        guard let place = free.popLast() else { return false }
        slots[place].operation = operation
        slots[place].count = step.count
        slots[place].buffer = buffer
        let key = key(of: place)
        let isAdded =
          if let buffer {
            ring.addRead(
              step.descriptor, into: buffer.start, step.count, at: offset, key: key,
              priority: .ofRequests(in: operation.band))
          } else {
            addWrite(step, of: operation, at: offset, key: key, place)
          }
        if !isAdded { _ = clear(place) }
        return isAdded
      }
      if !isPlaced { workers.submit(operation) }
    }
  }

  private func addWrite(
    _ step: IOStep, of operation: IOOperation, at offset: Int64, key: UInt64, _ place: Int
  ) -> Bool {
    let stretches =
      slots[place].stretches ?? .allocate(capacity: Transfer.mostStretches)
    slots[place].stretches = stretches
    let count = step.gather(
      operation.data,
      into: UnsafeMutableBufferPointer(start: stretches, count: Transfer.mostStretches))
    return ring.addWrite(
      step.descriptor, stretches, count, at: offset, key: key,
      priority: .ofRequests(in: operation.band))
  }

  /// `keys`: those that are to be cancelled, which were added first; for `others` there was no room.
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
      GRAND CENTRAL: The system does not let the process use its io_uring any more (errno \(error); \
      io_uring_enter(2)). Files are read and written by workers from now on.
      """)
  }
}

// MARK: Completions. The ring's thread, and those of the poller.

extension FileRing: ReadinessReceiver {
  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { finish() }

  private func finish() {
    let (all, wakes) = lock.withLock { () -> ([Done], Bool) in
      var all: [Done] = []
      while let completion = ring.next() {
        let place = Int(completion.key & 0xffff_ffff)
        guard completion.key != TransferRing.noKey, key(of: place) == completion.key,
          let done = clear(place)
        else { continue }
        all.append(
          Done(
            operation: done.operation, result: completion.result, count: done.count,
            buffer: done.buffer))
      }
      // It may have gone to sleep because all slots were taken.
      return (all, !all.isEmpty && canWork && wakesThread())
    }
    if wakes { wakeThread() }
    for done in all { finish(done) }
  }

  private func finish(_ done: Done) {
    let operation = done.operation
    let bytes = Int(done.result)
    switch operation.direction {
    // write(2) gives 0 for no bytes only: a worker finds out what is the matter.
    case _ where bytes < 0, .write where bytes == 0: workers.submit(operation)
    case .write: operation.file.stepMoved(bytes, .empty, of: operation)
    case .read:
      let data = done.buffer.map { bytes == 0 ? .empty : $0.data(bytes, of: done.count) }
      operation.file.stepMoved(bytes, data ?? .empty, of: operation)
    }
  }
}
