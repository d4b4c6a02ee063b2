// Room: Events/Timers. What is due at which time, on one clock, and the thread that waits for it.
// One for each clock: a sleep on the wall clock ends earlier or later when that is set, and must not take the
// other clock's timers along. The thread is made when the first timer is armed. It sleeps until the earliest
// *latest* time, and then fires everything whose *target* has come: so timers with leeway wait for each other,
// and one wake-up serves them all. With nothing armed it sleeps without a deadline.
// Two heaps, by target and by latest time, under one lock. The futex word counts changes of the earliest latest
// time: the thread reads it before it looks at the heaps, so a timer that is armed meanwhile ends its sleep.

final class Timers: @unchecked Sendable {
  enum TimerClock {
    case monotonic
    case wall

    var nanoseconds: UInt64 {
      switch self {
      case .monotonic: Clock.monotonicNanoseconds()
      case .wall: Clock.wallNanoseconds()
      }
    }
    func deadline(_ nanoseconds: UInt64) -> Deadline {
      switch self {
      case .monotonic: .monotonic(nanoseconds: nanoseconds)
      case .wall: .wall(nanoseconds: nanoseconds)
      }
    }
  }

  let clock: TimerClock
  private let pool: Pool
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var byTarget = TimerHeap(.byTarget)
  @Cell private var byLatest = TimerHeap(.byLatest)
  /// 0 no thread ─start→ 1 there; a refused one goes back to 0.
  private let thread = Atomic<UInt32>(0)
  /// Counts what the thread must look at anew.
  private let news = Atomic<UInt32>(0)

  init(clock: TimerClock, pool: Pool) {
    self.clock = clock
    self.pool = pool
  }

  /// Arms `entry`, or changes when it is due. Any thread.
  func arm(_ entry: TimerEntry, at target: UInt64, leeway: UInt64) {
    let isFirst = lock.withLock { insert(entry, at: target, leeway: leeway) }
    if isFirst { wakeThread() }
  }

  /// With the lock held. Whether the thread must wake up earlier than it knows.
  private func insert(_ entry: TimerEntry, at target: UInt64, leeway: UInt64) -> Bool {
    withdraw(entry)
    let (latest, overflows) = target.addingReportingOverflow(leeway)
    entry.target = target
    entry.latest = overflows ? .max : latest
    entry.state = .armed
    _ = Unmanaged.passRetained(entry)
    let earliest = byLatest.first
    byTarget.insert(entry, at: entry.target)
    byLatest.insert(entry, at: entry.latest)
    return earliest.map { entry.latest < $0 } ?? true
  }

  /// With the lock held.
  private func withdraw(_ entry: TimerEntry) {
    if entry.state == .armed {
      byTarget.remove(entry)
      byLatest.remove(entry)
      Unmanaged.passUnretained(entry).release()
    }
    entry.state = .idle
  }

  /// What was armed, or has fired and was not answered, no longer counts. Any thread.
  func disarm(_ entry: TimerEntry) { lock.withLock { withdraw(entry) } }

  /// For an entry that has fired: `next` says when it is due again, if at all. Returns whether it had fired:
  /// it has not if it was armed anew or disarmed since.
  func answer(_ entry: TimerEntry, leeway: UInt64, next: (UInt64) -> UInt64?) -> Bool {
    var isFirst = false
    let hasFired = lock.withLock {
      guard entry.state == .fired else { return false }
      if let target = next(entry.target) {
        isFirst = insert(entry, at: target, leeway: leeway)
      } else {
        entry.state = .idle
      }
      return true
    }
    if isFirst { wakeThread() }
    return hasFired
  }

  // MARK: The thread

  private func wakeThread() {
    // releasing: the heaps are read under the lock; this is for order among counts only.
    news.wrappingAdd(1, ordering: .releasing)
    guard thread.load(ordering: .acquiring) == 0 else { return futexWake(news) }
    // Asking in vain costs tens of microseconds: see Pool+Shortage.
    if pool.isRefused { pool.keepVigil(for: self) } else { start() }
  }

  private func start() {
    guard
      thread.compareExchange(expected: 0, desired: 1, ordering: .acquiringAndReleasing).exchanged
    else { return futexWake(news) }
    let error = pool.spawn(
      { argument in
        let timers = Unmanaged<Timers>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
        nameThread(timers.clock == .monotonic ? "gc-timers" : "gc-wall-timers")
        timers.run()
      }, Unmanaged.passRetained(self).toOpaque(), stackBytes: 256 * 1024)
    if error == 0 { return Vigil.end(self) }
    Unmanaged.passUnretained(self).release()
    thread.store(0, ordering: .releasing)
    pool.keepVigil(for: self)
    pool.reportRefusal(error)
  }

  private func run() -> Never {
    let thread = currentThread()
    while true {
      // acquiring: before the heaps are looked at.
      let seen = news.load(ordering: .acquiring)
      let (due, latest) = takeDue()
      for receiver in due { receiver.timerFired(on: thread) }
      // What came due while these were fired is not waited for.
      if !due.isEmpty { continue }
      _ = futexWait(news, while: seen, until: latest.map { clock.deadline($0) })
    }
  }

  /// Whose time has come, at most so many at once; and if nobody's, when to look again. Kept, so that nobody
  /// dies under the lock.
  private func takeDue() -> (due: [any TimerReceiver], latest: UInt64?) {
    lock.withLock {
      var due: [any TimerReceiver] = []
      guard let latest = byLatest.first else { return (due, nil) }
      let now = clock.nanoseconds
      guard latest <= now else { return (due, latest) }
      while due.count < 256, let first = byTarget.first, first <= now,
        let entry = byTarget.firstEntry
      {
        byTarget.remove(entry)
        byLatest.remove(entry)
        entry.state = .fired
        if let receiver = entry.receiver() { due.append(receiver) }
        Unmanaged.passUnretained(entry).release()
      }
      return (due, nil)
    }
  }
}

extension Timers {
  /// Those of the engine that the public API speaks to.
  static let monotonic = Timers(clock: .monotonic, pool: Runtime.shared.pool)
  static let wall = Timers(clock: .wall, pool: Runtime.shared.pool)
}

extension Timers: Vigilant {
  func attend() {
    guard thread.load(ordering: .acquiring) == 0 else { return Vigil.end(self) }
    if !pool.isRefused { start() }
  }
}
