// Room: Events/Poller. Where the engine waits for descriptors and clocks: one epoll(7) set for all of them.
// Two threads wait in it side by side. The kernel gives an event to one of them, and that one runs what the event
// makes ready itself, as a guest of the pool (Pool+Guest), so no other thread has to wake up for it. Meanwhile the
// other is there: however long a handler takes, events are received. So
//   whoever leaves the other behind may run what has come
//   whoever leaves nobody behind must not: it hands everything to the pool's workers, and comes back
// While events come as fast as handlers end, the second thread would be woken for each other one of them, only to find
// that the first is about to come back anyway. So a thread that was woken while the other was at work, or the second
// when the two take turns for long, stands by: it sleeps for a millisecond at a time, until the other sits in a handler
// for longer than that, or is idle most of the time; then it goes back to wait. It counts as there while it stands by,
// so the other goes on running what comes. That is the only periodic wake-up, and it ends when the events do.
// Times are descriptors too (Alarm), so one that comes is an event like any other.
// A system that refuses descriptors, memory or threads is asked again: see Poller+Shortage.

final class Poller: @unchecked Sendable {
  let pool: Pool
  let lock = Lock()
  /// Guarded by the lock.
  @Cell private var table = RegistrationTable()
  /// The epoll set; -1 before there is one. Written once, under the lock; releasing and acquiring.
  let set = Atomic<Int32>(-1)

  /// Threads that are in the wait, or will be there within a bounded time: on their way, or standing by.
  private let present = Atomic<Int32>(0)
  let first = PollerThread()
  let second = PollerThread()

  // See Poller+Shortage.swift.
  /// Threads that there are, or are being made.
  let threads = Atomic<UInt32>(0)
  /// Guarded by the lock: who is to be tried again; how often anybody came to lack something; the set's bell.
  @Cell var lacking: [any Lacking] = []
  @Cell var shortages: UInt32 = 0
  @Cell var bell: Int32 = -1
  /// Whether anything is, the set included.
  let isShort = Atomic<Bool>(false)
  let hasReported = Atomic<Bool>(false)
  /// Nobody changes it: for sleeps that end by the clock.
  private let never = Atomic<UInt32>(0)

  static var mostThreads: UInt32 { 2 }
  /// No registration's: a table has fewer places.
  static var bellKey: UInt64 { .max }
  private static var shortNanoseconds: UInt64 { 250_000 }
  private static var standbyNanoseconds: UInt64 { 1_000_000 }
  /// Turns in that time up to which the other is taken to be idle.
  private static var idleTurns: UInt32 { 4 }

  init(pool: Pool) { self.pool = pool }

  // MARK: Registrations

  /// Makes a place for `receiver`, who is kept until `unregister`. Nothing is told before the kernel has been given
  /// that key. Any thread.
  func register(_ receiver: any ReadinessReceiver) -> Registration {
    lock.withLock { table.insert(receiver) }
  }

  /// The same for a descriptor that only this receiver listens to, which the kernel is asked for at once. Returns an errno
  /// instead where it refuses. There must be a set.
  func register(
    _ receiver: any ReadinessReceiver, for descriptor: Int32, _ interest: Readiness,
    _ mode: ReadinessSet.Mode
  ) -> Result<Registration, SystemError> {
    let registration = register(receiver)
    let error = ReadinessSet.add(
      set.load(ordering: .acquiring), descriptor, interest, mode, key: registration.key)
    if error == 0 { return .success(registration) }
    unregister(registration)
    return .failure(SystemError(number: error))
  }

  /// Makes a descriptor with `make`, which sets errno where it returns less than 0, and listens to it by edges: nobody
  /// need take what it is ready for before it tells again. `set`: what `prepare()` returned, which is called before the
  /// receiver takes its lock. Returns an errno where anything of it was refused; then nothing is left open.
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

  /// Nothing is told by that key any more, but for what a thread is just about to tell. Any thread.
  func unregister(_ registration: Registration) {
    // Let go of outside the lock: whoever dies with it may take it.
    _ = lock.withLock { table.remove(registration) }
  }

  // MARK: The threads

  /// Returns in a child that was forked by a handler: there it is the thread of another process.
  func run(_ own: PollerThread, as guest: Worker) {
    let thread = currentThread()
    let generation = ForkGate.generation
    let events = UnsafeMutablePointer<ReadinessSet.Event>.allocate(capacity: ReadinessSet.batch)
    present.wrappingAdd(1, ordering: .relaxed)
    while true {
      let count = wait(own, into: events, on: thread)
      if isShort.load(ordering: .relaxed) { tryAgain(on: thread) }
      // The first batch makes the runtime make types.
      ForkGate.enter(thread)
      let told = receivers(of: UnsafeBufferPointer(start: events, count: count))
      let isEmpty = told.isEmpty
      ForkGate.leave(thread)
      if isEmpty { continue }
      let tell = {
        for (receiver, readiness) in told { receiver.becameReady(readiness, on: thread) }
      }
      // relaxed: of two threads that leave at a time the order of this word alone says which is the last.
      let isLast = present.wrappingSubtract(1, ordering: .relaxed).newValue == 0
      if isLast || !pool.visit(as: guest, on: thread, bring: tell) { tell() }
      if ForkGate.generation != generation { return }
      present.wrappingAdd(1, ordering: .relaxed)
      if threads.load(ordering: .relaxed) < Self.mostThreads {
        // Asking in vain costs tens of microseconds: see Pool+Shortage.
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
    own.turns.wrappingAdd(1, ordering: .relaxed)
    let period = isShort.load(ordering: .acquiring) ? Self.retryMilliseconds : nil
    let set = set.load(ordering: .acquiring)
    if own.isStarting {
      own.isStarting = false
      ForkGate.leave(thread)
    }
    if set >= 0 { return ReadinessSet.wait(set, into: events, milliseconds: period) }
    sleep(nanoseconds: UInt64(Self.retryMilliseconds) * 1_000_000)
    return 0
  }

  /// Whom a batch is for; what is out of date is dropped. One lock for all of them.
  private func receivers(
    of events: UnsafeBufferPointer<ReadinessSet.Event>
  ) -> [(any ReadinessReceiver, Readiness)] {
    if events.isEmpty { return [] }
    return lock.withLock {
      events.compactMap { event in
        table[Registration(key: event.key)].map { ($0, Readiness(rawValue: event.events)) }
      }
    }
  }

  /// Whether the two threads have taken turns a few times in a row, at short intervals.
  private func takesTurns(_ own: PollerThread) -> Bool {
    let now = Clock.monotonicNanoseconds()
    let other = first.turns.load(ordering: .relaxed)
    let isTurn = other != own.otherTurns && now - own.lastTurn < Self.shortNanoseconds
    own.turnsTaken = isTurn ? own.turnsTaken + 1 : 0
    own.otherTurns = other
    own.lastTurn = now
    guard own.turnsTaken >= Self.idleTurns else { return false }
    own.turnsTaken = 0
    // What standBy() compares with is of its own last look, not of this one.
    own.otherTurns = other &- 1
    return true
  }

  /// Stays out of the wait while the other thread comes back to it again and again. If it did not since it was last
  /// looked at, it sits in a handler, and waiting is all up to this one.
  // relaxed, all of it: whoever stands by for too long, or not at all, costs time and nothing else. That it goes back
  // within bounds is all that is relied upon.
  private func standBy(_ own: PollerThread) {
    let other = own === first ? second : first
    while true {
      let before = other.turns.load(ordering: .relaxed)
      if before == own.otherTurns { return }
      own.otherTurns = before
      sleep(nanoseconds: Self.standbyNanoseconds)
      let now = other.turns.load(ordering: .relaxed)
      // None: it sits in a handler. Few: it waits most of the time.
      if now &- before <= Self.idleTurns { return }
    }
  }

  /// In a child that was forked: no thread waits, and nothing is listened to. The set is the parent's too, which must not
  /// hear of this, so it is closed and nothing is taken out of it. Returns who was registered.
  func afterFork(on thread: ThreadContext) -> [any ReadinessReceiver] {
    let (inherited, bell) = (set.load(ordering: .relaxed), bell)
    for descriptor in [inherited, bell] where descriptor >= 0 { close(descriptor) }
    set.store(-1, ordering: .relaxed)
    self.bell = -1
    lacking = []
    isShort.store(false, ordering: .relaxed)
    threads.store(0, ordering: .relaxed)
    present.store(0, ordering: .relaxed)
    first.afterFork(on: thread)
    second.afterFork(on: thread)
    return table.removeAll()
  }

  private func sleep(nanoseconds: UInt64) {
    let end = Clock.monotonicNanoseconds() + nanoseconds
    while futexWait(never, while: 0, until: .monotonic(nanoseconds: end)) != .timedOut {}
  }
}

/// What one thread of the poller keeps.
final class PollerThread: @unchecked Sendable {
  /// How often it has come back to the wait.
  let turns = Atomic<UInt32>(0)
  /// Its own: the other's turns when it last looked.
  @Cell var otherTurns: UInt32 = 0
  /// Its own: how often the two have taken turns, and when it last had one.
  @Cell var turnsTaken: UInt32 = 0
  @Cell var lastTurn: UInt64 = 0
  /// Its own: it has not waited yet, and nobody forks until it does. See ForkGate.inside().
  @Cell var isStarting = false
  /// Its record in the pool, made with the first attempt to start it. Guarded by the poller's lock.
  @Cell var guest: Worker?

  /// In a child that was forked. A record that the calling thread works under stays its own.
  func afterFork(on thread: ThreadContext) {
    (turnsTaken, lastTurn, otherTurns) = (0, 0, 0)
    isStarting = false
    turns.store(0, ordering: .relaxed)
    if let guest, thread.pointee.worker == Unmanaged.passUnretained(guest).toOpaque() {
      self.guest = nil
    }
  }
}
