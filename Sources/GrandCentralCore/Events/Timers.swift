// Room: Events/Timers. What is due at which time, on one clock.
// One for each clock: an alarm on the wall clock rings earlier or later when that is set, and must not take the
// other clock's timers along. The alarm is a descriptor in the poller (Primitives/Alarm). It rings at the earliest
// *latest* time, and then everything fires whose *target* has come: so timers with leeway wait for each other, and
// one wake-up serves them all.
// Two heaps, by latest and by target, under one lock; a timer without leeway is in the first only.
// The alarm is never later than the earliest latest time, unless a thread is firing timers, which sets it when it is
// done. It may be earlier: when the first timer is disarmed it is left as it is, and rings once for nothing. So a
// timeout that is armed and disarmed again for each request makes no system call at all, as long as an older one,
// or its alarm, is still to come.

final class Timers: ReadinessReceiver, @unchecked Sendable {
  enum TimerClock {
    case monotonic
    case wall

    var nanoseconds: UInt64 {
      switch self {
      case .monotonic: Clock.monotonicNanoseconds()
      case .wall: Clock.wallNanoseconds()
      }
    }
  }

  let clock: TimerClock
  private let poller: Poller
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var byLatest = TimerHeap(.byLatest)
  @Cell private var byTarget = TimerHeap(.byTarget)
  /// The descriptor; -1 before there is one.
  @Cell private var alarm: Int32 = -1
  /// When the alarm rings; `.max`: it does not.
  @Cell private var alarmTime = UInt64.max

  /// How many timers fire before others may arm theirs.
  private static var batch: Int { scaled(256, inModels: 1) }

  init(clock: TimerClock, poller: Poller) {
    self.clock = clock
    self.poller = poller
  }

  /// Arms `entry`, or changes when it is due. Any thread.
  func arm(_ entry: TimerEntry, at target: UInt64, leeway: UInt64) {
    let isReady = lock.withLock {
      insert(entry, at: target, leeway: leeway)
      return alarm >= 0
    }
    if !isReady { makeAlarm() }
  }

  /// What was armed, or has fired and was not answered, no longer counts. Any thread.
  func disarm(_ entry: TimerEntry) { lock.withLock { withdraw(entry) } }

  /// For an entry that has fired: `next` says when it is due again, if at all. Returns whether it had fired:
  /// it has not if it was armed anew or disarmed since.
  func answer(_ entry: TimerEntry, leeway: UInt64, next: (UInt64) -> UInt64?) -> Bool {
    lock.withLock {
      guard entry.state == .fired else { return false }
      if let target = next(entry.target) {
        insert(entry, at: target, leeway: leeway)
      } else {
        entry.state = .idle
      }
      return true
    }
  }

  // MARK: With the lock held

  private func insert(_ entry: TimerEntry, at target: UInt64, leeway: UInt64) {
    withdraw(entry)
    let (latest, overflows) = target.addingReportingOverflow(leeway)
    entry.target = target
    entry.latest = overflows ? .max : latest
    entry.state = .armed
    _ = Unmanaged.passRetained(entry)
    byLatest.insert(entry, at: entry.latest)
    if entry.hasLeeway { byTarget.insert(entry, at: target) }
    setAlarm()
  }

  private func withdraw(_ entry: TimerEntry) {
    if entry.state == .armed {
      remove(entry)
      Unmanaged.passUnretained(entry).release()
    }
    entry.state = .idle
  }

  private func remove(_ entry: TimerEntry) {
    byLatest.remove(entry)
    if entry.hasLeeway { byTarget.remove(entry) }
  }

  /// Sees to it that the alarm rings in time.
  private func setAlarm() {
    guard alarm >= 0, let latest = byLatest.first, latest < alarmTime else { return }
    alarmTime = latest
    Alarm.set(alarm, at: max(1, latest))
  }

  /// Whose time has come; a batch at most.
  private func takeDue() -> [any TimerReceiver] {
    var due: [any TimerReceiver] = []
    guard let latest = byLatest.first else { return due }
    let now = clock.nanoseconds
    guard latest <= now else { return due }
    // Those first that can wait no longer, then those that came along.
    while due.count < Self.batch,
      let entry = byLatest.entry(until: now) ?? byTarget.entry(until: now)
    {
      remove(entry)
      entry.state = .fired
      if let receiver = entry.receiver() { due.append(receiver) }
      Unmanaged.passUnretained(entry).release()
    }
    return due
  }

  // MARK: The poller's threads

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { fire(on: thread) }

  private func fire(on thread: ThreadContext) {
    while true {
      let due = lock.withLock {
        let due = takeDue()
        if due.isEmpty {
          // It has rung, or soon will for nothing.
          alarmTime = .max
          setAlarm()
        }
        return due
      }
      // Receivers are let go of outside the lock, since they may die with it.
      if due.isEmpty { return }
      for receiver in due { receiver.timerFired(on: thread) }
    }
  }
}

extension Timers: Lacking {
  private func makeAlarm() {
    let set = poller.prepare()
    var error: Int32 = 0
    lock.withLock {
      if alarm >= 0 { return }
      let made = set >= 0 ? Alarm.make(isWall: clock == .wall) : -1
      guard made >= 0 else {
        error = errno
        return
      }
      let registration = poller.register(self)
      error = ReadinessSet.add(set, made, .readable, .edge, key: registration.key)
      guard error == 0 else {
        poller.unregister(registration)
        close(made)
        return
      }
      alarm = made
      setAlarm()
    }
    if error != 0 { poller.lack(self, error: error) }
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    makeAlarm()
    fire(on: thread)
    return lock.withLock { alarm >= 0 }
  }
}
