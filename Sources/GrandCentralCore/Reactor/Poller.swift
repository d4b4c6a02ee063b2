// Room: Reactor/Poller. Waits for descriptors and clocks, in one epoll(7) set.
// Two threads wait in the set. The kernel gives an event to one of them, and that thread runs what
// the event makes ready, as an external worker of the pool. No other thread has to wake up. The
// other thread keeps waiting, so events are received however long a handler takes. So
//   a thread that leaves the other one in the wait may run what has come
//   a thread that leaves the wait empty must not: it hands all to the pool and waits again
// While events come as fast as handlers end, the kernel would wake the second thread for every
// other event, only to find that the first thread is about to return. A thread therefore stands by
// if it was woken while the other one was at work; so does the second thread when the two alternate
// for long. It sleeps for 1 ms at a time, until the other thread stays in a handler for longer than
// that, or is idle most of the time. Then it waits in the set again. A thread that stands by counts
// as present, so the other one keeps running what comes. Shortages apart, this is the poller's only
// periodic wake-up, and it ends when the events do.
// Clocks are descriptors too (TimerFD), so a time that comes is an event like any other.
// When the system refuses descriptors, memory or threads, the poller retries: see Poller+Shortage.

final class Poller: @unchecked Sendable {
  let pool: Pool
  let lock = Lock()
  /// Guarded by the lock.
  @Cell var table = RegistrationTable()
  /// The epoll set; -1 before it exists, and after the program has closed it until there is another
  /// one (Poller+Loss). Written under the lock, with releasing order; read with acquiring order.
  let set = Atomic<Int32>(-1)
  /// The set before it is replaced because of orphans (Poller+Orphans); the same until then.
  let firstSet = Atomic<Int32>(-1)
  /// Whether descriptors may stay armed: a thread stands by. A hint.
  let mayStayArmed = Atomic<Bool>(false)
  /// Guarded by the lock.
  @Cell var orphans = Orphans()

  /// How often the program has closed the set. Changed under the lock.
  let losses = Atomic<UInt32>(0)

  let state = Atomic<PollerState>(.empty)
  let first = PollerThread()
  let second = PollerThread()

  // See Poller+Shortage.
  /// Guarded by the lock: the objects to retry, the count of shortages, the wake-up descriptor.
  @Cell var lacking: [any ResourceRetry] = []
  @Cell var shortages: UInt32 = 0
  @Cell var wakeDescriptor: Int32 = -1
  /// Whether a resource is missing, the set included.
  let isShort = Atomic<Bool>(false)
  let hasReported = Atomic<Bool>(false)
  /// Whether an item that looks at the set waits in the pool.
  let isLookSubmitted = Atomic<Bool>(false)
  /// A futex word that never changes, for sleeps that end by the clock.
  private let never = Atomic<UInt32>(0)

  /// The key of the wake-up descriptor. No registration has it: a table has fewer slots.
  static var wakeKey: UInt64 { .max }
  private static var shortNanoseconds: UInt64 { 250_000 }
  private static var standbyNanoseconds: UInt64 { 1_000_000 }
  /// Returns to the wait, in a standby period, up to which the other thread counts as idle.
  private static var idleTurns: UInt32 { 4 }

  init(pool: Pool) { self.pool = pool }

  // MARK: Registrations

  /// Makes a slot for `receiver`, and retains it until `unregister`. No event arrives before the
  /// kernel has the key. Any thread. `isInFirstSet`: the receiver is to add its descriptor to
  /// `firstSet`; if that is replaced, the receiver is called.
  func register(
    _ receiver: any ReadinessReceiver
  ) -> (registration: Registration, isInFirstSet: Bool) {
    lock.withLock { (table.insert(receiver), !orphans.haveReplacedSet) }
  }

  /// Registers `receiver` for a descriptor of its own, and adds the descriptor to the set. The set
  /// must exist. Returns an errno if the kernel refuses.
  func register(
    _ receiver: any ReadinessReceiver, for descriptor: Int32, _ interest: Readiness,
    _ mode: ReadinessSet.Mode
  ) -> Result<Registration, SystemError> {
    let watched = WatchedDescriptor(descriptor: descriptor, interest: interest, mode: mode)
    // In one critical section, so that a replacement of the set has it or comes before it.
    return lock.withLock {
      let registration = table.insert(receiver, watched)
      let error = watched.add(to: set.load(ordering: .relaxed), registration)
      if error == 0 { return .success(registration) }
      // The caller has the receiver, so this is not the last reference.
      _ = table.remove(registration)
      return .failure(SystemError(number: error))
    }
  }

  /// Removes a receiver's own descriptor from the set, before the receiver closes it. Any thread.
  func withdraw(_ registration: Registration) {
    lock.withLock {
      guard let watched = table.stopWatching(registration) else { return }
      _ = ReadinessSet.remove(set.load(ordering: .relaxed), watched.descriptor)
    }
  }

  /// Makes the kernel report a receiver's own descriptor again if it is ready. Returns 0 or an
  /// errno. Any thread.
  func rearm(_ registration: Registration) -> Int32 {
    lock.withLock {
      guard let watched = table.watched(registration) else { return 0 }
      return watched.change(in: set.load(ordering: .relaxed), registration)
    }
  }

  /// Makes a descriptor with `make`, and registers it edge-triggered: the receiver need not drain
  /// it to get the next event. `make` sets errno when it returns less than 0. `set` is the result
  /// of `prepare()`, which is called before the receiver takes its own lock. Returns an errno if
  /// either step is refused; no descriptor stays open then.
  func open(
    for receiver: any ReadinessReceiver, in set: Int32, _ make: () -> Int32
  ) -> Result<(descriptor: Int32, registration: Registration), SystemError> {
    if set < 0 { return .failure(SystemError(number: -set)) }
    let made = make()
    guard made >= 0 else { return .failure(SystemError(number: errno)) }
    return register(receiver, for: made, .readable, .edge).map { (made, $0) }.mapError {
      close(made)
      return $0
    }
  }

  /// Gives a receiver another key, and ends deliveries by that one, except those that a thread is
  /// about to make. Any thread.
  func renewKey(of registration: Registration) -> Registration {
    lock.withLock { table.renewKey(of: registration) }
  }

  /// Ends deliveries by that key, except those that a thread is about to make. Any thread.
  func unregister(_ registration: Registration) {
    // Released outside the lock: a deinit that this triggers may take the lock.
    _ = lock.withLock { table.remove(registration) }
  }

  // MARK: Threads

  /// Waits and runs what comes. Returns only in a child that a handler forked: there the thread
  /// belongs to another process.
  func run(_ own: PollerThread, as externalWorker: Worker) {
    let thread = currentThread()
    own.context.store(UInt(bitPattern: thread), ordering: .relaxed)
    let home = HomeProcess()
    var batch = EventBatch()
    state.transition(to: { $0.entering() })
    while true {
      let count = wait(own, into: batch.events, on: thread)
      if isShort.load(ordering: .relaxed) { tryAgain(on: thread) }
      findReceivers(of: count, in: &batch, on: thread)
      if batch.isEmpty { continue }
      // If two threads leave at once, the order of this word alone says which is last.
      let isLast = state.transition({ $0.leaving() }) == true
      if isLast
        || !pool.runInline(as: externalWorker, on: thread, deliver: { batch.deliver(on: thread) })
      {
        batch.deliver(on: thread)
      }
      if !home.isCurrent { return }
      state.transition(to: { $0.entering() })
      if !state.load(ordering: .relaxed).isFull {
        // A refused attempt costs tens of microseconds: see Pool+Shortage.
        if isLast && !pool.isRefused { startThread() }
      } else if isLast || (own === second && takesTurns(own)) {
        standBy(own)
      }
    }
  }

  private func wait(
    _ own: PollerThread, into events: UnsafeMutablePointer<ReadinessSet.Event>,
    on thread: ThreadContext
  ) -> Int {
    // Not an atomic addition: only this thread writes it. sequentiallyConsistent: see Turns.
    own.turns.store(own.turns.load(ordering: .relaxed) &+ 1, ordering: .sequentiallyConsistent)
    let period = isShort.load(ordering: .acquiring) ? Self.retryMilliseconds : nil
    let set = set.load(ordering: .acquiring)
    own.endFirstSteps(of: thread)
    if set >= 0 { return look(at: set, into: events, milliseconds: period) }
    sleep(nanoseconds: UInt64(Self.retryMilliseconds) * 1_000_000)
    return 0
  }

  /// Waits in the set. Returns 0 also if the program has closed it: see Poller+Loss.
  func look(
    at set: Int32, into events: UnsafeMutablePointer<ReadinessSet.Event>, milliseconds: Int32?
  ) -> Int {
    // relaxed: lose() compares it under the lock.
    let seen = losses.load(ordering: .relaxed)
    if let count = ReadinessSet.wait(set, into: events, milliseconds: milliseconds) {
      return count
    }
    lose(set, after: seen)
    return 0
  }

  /// Looks up the receivers of a batch's first events, under one lock.
  func findReceivers(of count: Int, in batch: inout EventBatch, on thread: ThreadContext) {
    // The first batch makes the Swift runtime instantiate types; no fork may happen meanwhile.
    ForkGate.enter(thread)
    var hasOrphan = false
    if count > 0 {
      lock.withLock {
        var unmatched = Orphans.UnmatchedEvents(of: orphans)
        batch.find(count, in: table, &unmatched)
        hasOrphan = orphans.note(unmatched)
      }
    }
    ForkGate.leave(thread)
    if hasOrphan { replaceSet(on: thread) }
  }

  /// Whether the two threads have alternated a few times in a row, at short intervals.
  private func takesTurns(_ own: PollerThread) -> Bool {
    let now = Clock.monotonicNanoseconds()
    let other = first.turns.load(ordering: .relaxed)
    let isTurn = other != own.otherTurns && now - own.lastTurn < Self.shortNanoseconds
    own.turnsTaken = isTurn ? own.turnsTaken + 1 : 0
    own.otherTurns = other
    own.lastTurn = now
    guard own.turnsTaken >= Self.idleTurns else { return false }
    own.turnsTaken = 0
    // standBy() compares with its own last look, not with this one; any other value will do.
    own.otherTurns = other &- 1
    return true
  }

  /// Keeps the thread out of the wait while the other one returns to it again and again. If the
  /// other one has not returned since the last look, it is in a handler, and only this thread can
  /// wait.
  // relaxed, all of it: standing by too long, or not at all, costs only time. The one thing relied
  // upon is that the thread returns to the wait within bounds.
  private func standBy(_ own: PollerThread) {
    let other = own === first ? second : first
    var before = other.turns.load(ordering: .relaxed)
    if before == own.otherTurns { return }
    // An early close shows only at a request, so nothing stays armed while it is to be reported.
    mayStayArmed.store(!ReportKind.descriptorClosedEarly.isPrinted, ordering: .relaxed)
    while true {
      own.otherTurns = before
      sleep(nanoseconds: Self.standbyNanoseconds)
      let now = other.turns.load(ordering: .relaxed)
      // None: it is in a handler. Few: it waits most of the time.
      if now &- before <= Self.idleTurns { break }
      before = now
    }
    mayStayArmed.store(false, ordering: .relaxed)
  }

  func sleep(nanoseconds: UInt64) {
    let end = Clock.monotonicNanoseconds() + nanoseconds
    while futexWait(never, while: 0, until: .monotonic(nanoseconds: end)) != .timedOut {}
  }
}

/// The state of one poller thread.
final class PollerThread: @unchecked Sendable {
  /// The number of times that it has returned to the wait.
  let turns = Atomic<UInt32>(0)
  /// The address of its context. Written and compared by itself.
  let context = Atomic<UInt>(0)
  /// Used by this thread only: the other thread's `turns` at the last look.
  @Cell var otherTurns: UInt32 = 0
  /// Used by this thread only: how often the two have alternated, and the time of the last turn.
  @Cell var turnsTaken: UInt32 = 0
  @Cell var lastTurn: UInt64 = 0
  /// Used by this thread only: it has not waited yet, and the process cannot fork until it does.
  /// See beginFirstSteps().
  @Cell var isStarting = false
  /// The thread's record in the pool, made with its first start. Guarded by the poller's lock.
  @Cell var externalWorker: Worker?
}
