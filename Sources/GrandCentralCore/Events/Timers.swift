// Room: Events/Timers. What is due at which time, on one clock.
// One for each clock: an alarm on the wall clock rings earlier or later when that is set, and must not take the
// other clock's timers along. The alarm is a descriptor in the poller (Primitives/Alarm).
// When it rings: the window of a timer is from its target to its latest time. The earliest latest
// time ends the first window; every timer whose target is in that window can fire together. The
// last of those targets is when all of them are due, and no wake-up is saved by waiting longer. So
// a timer that is alone in its window fires at its target, and timers whose windows overlap share
// one wake-up. With more targets in a window than are worth looking through, all fire at its end.
// Two heaps, by latest and by target; a timer without leeway is in the first only. One lock for both clocks, since a
// source changes from the one to the other: see Sources/TimerSource, which keeps what it knows under it too.
// The alarm is never later than the earliest latest time, unless a thread is firing timers, which sets it when it is
// done. It may be earlier: when the first timer is disarmed, or another is armed whose target is in
// the window, it is left as it is, and the thread that it wakes sets it anew. So a timeout that is
// armed and disarmed again for each request makes no system call at all, as long as an older one,
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
  /// In memory of its own: `lender` keeps it where that is another's.
  let lock: UnsafeMutablePointer<Lock>
  private let lender: Timers?
  // Guarded by the lock, as what follows.
  private let byLatest = TimerHeap(.byLatest)
  private let byTarget = TimerHeap(.byTarget)
  private let store = TimerStore()
  /// The descriptor; -1 before there is one.
  @Cell private var alarm: Int32 = -1
  /// When the alarm rings; `.max`: it does not.
  @Cell private var alarmTime = UInt64.max

  /// How many timers fire before others may arm theirs.
  private static var batch: Int { scaled(256, inModels: 1) }
  /// How many targets of a window are looked through: about as long as a wake-up takes, at most.
  private static var mostTargets: Int { scaled(64, inModels: 2) }

  /// `other`: that of the other clock, whose lock this uses too.
  init(clock: TimerClock, poller: Poller, sharing other: Timers? = nil) {
    self.clock = clock
    self.poller = poller
    lender = other
    if let other {
      lock = other.lock
    } else {
      lock = .allocate(capacity: 1)
      lock.initialize(to: Lock())
    }
  }

  deinit {
    if lender != nil { return }
    lock.deinitialize(count: 1)
    lock.deallocate()
  }

  /// Calls `body` with the lock held, and sees to an alarm for what that has armed. Any thread.
  @inline(__always)
  func change<Result>(_ body: (Timers) -> Result) -> Result {
    let (result, isLacking) = lock.pointee.withLock { (body(self), lacksAlarm) }
    if isLacking { makeAlarm() }
    return result
  }

  // MARK: Timers of lanes, for who holds the lock

  /// An entry by which `lane` hears that a time has come, scheduled as below. It must be put back before the lane dies.
  func makeEntry(
    for lane: Lane, at target: UInt64 = .max, leeway: UInt64 = 0, arms: Bool = false
  ) -> TimerHandle {
    let entry = store.take(lane.address, .lane)
    set(entry, at: target, leeway: leeway)
    if arms { insert(entry) }
    return entry
  }

  /// Once for each entry.
  func putBack(_ entry: TimerHandle) {
    withdraw(entry)
    store.put(entry)
  }

  /// Says when `entry` is due; `.max`: never. Replaces what was said before, and takes back that it has fired.
  func schedule(_ entry: TimerHandle, at target: UInt64, leeway: UInt64, arms: Bool) {
    withdraw(entry)
    set(entry, at: target, leeway: leeway)
    if arms { insert(entry) }
  }

  /// Arms `entry` for when it is due.
  func arm(_ entry: TimerHandle) {
    withdraw(entry)
    insert(entry)
  }

  /// What was armed, or has fired and was not answered, no longer counts.
  func disarm(_ entry: TimerHandle) { withdraw(entry) }

  /// For an entry that has fired, which is due every `interval`; 0: once. Arms it for the next time and returns how many
  /// times have come by now; `nil` if it has not fired, since it was scheduled anew or disarmed since.
  func answer(_ entry: TimerHandle, interval: UInt64) -> UInt64? {
    guard entry.pointee.state == .fired else { return nil }
    entry.pointee.state = .idle
    if interval == 0 { return 1 }
    let (target, leeway) = (entry.pointee.target, entry.pointee.latest - entry.pointee.target)
    let now = clock.nanoseconds
    let count = (now > target ? (now - target) / interval : 0) + 1
    let (elapsed, overflows) = count.multipliedReportingOverflow(by: interval)
    let (next, overflowsToo) = target.addingReportingOverflow(elapsed)
    if overflows || overflowsToo { return count }
    set(entry, at: next, leeway: leeway)
    insert(entry)
    return count
  }

  /// Whether there is no alarm yet for what is armed; then whoever armed it is to make one, without the lock.
  var lacksAlarm: Bool { alarm < 0 && byLatest.count > 0 }

  // MARK: Work for later

  /// Submits `node` to `queue` when its time has come. Consumes it. Any thread.
  func submit(_ node: WorkNode, to queue: Lane, at target: UInt64, leeway: UInt64) {
    node.carrier = Unmanaged.passRetained(queue).toOpaque()
    change {
      let entry = $0.store.take(node.raw, .work)
      $0.set(entry, at: target, leeway: leeway)
      $0.insert(entry)
    }
  }

  // MARK: In a child that was forked

  /// Calls `body` for each lane that may be told of a time. Some may have no reference left.
  func visitLanes(_ body: (Unmanaged<Lane>) -> Void) { store.visitLanes(body) }

  /// What was to come is the parent's, and so is the alarm. Work stays where it is: see Queues/Runtime+Fork.
  func disarmAll() {
    lock.pointee.withLock {
      _ = byTarget.removeAll()
      for entry in byLatest.removeAll() {
        entry.pointee.state = .idle
        if entry.pointee.kind == .work { store.put(entry) }
      }
      if alarm >= 0 { close(alarm) }
      alarm = -1
      alarmTime = .max
    }
  }

  // MARK: With the lock held

  private func set(_ entry: TimerHandle, at target: UInt64, leeway: UInt64) {
    entry.pointee.target = target
    let (latest, overflows) = target.addingReportingOverflow(leeway)
    entry.pointee.latest = overflows ? .max : latest
  }

  private func insert(_ entry: TimerHandle) {
    guard entry.pointee.target != .max else { return }
    entry.pointee.state = .armed
    byLatest.insert(entry, at: entry.pointee.latest)
    if entry.pointee.hasLeeway { byTarget.insert(entry, at: entry.pointee.target) }
    // Any other ends no window earlier, so the alarm is early enough.
    if entry.pointee.placeByLatest == 0 { setAlarm() }
  }

  private func withdraw(_ entry: TimerHandle) {
    if entry.pointee.state == .armed { remove(entry) }
    entry.pointee.state = .idle
  }

  private func remove(_ entry: TimerHandle) {
    byLatest.remove(entry)
    if entry.pointee.hasLeeway { byTarget.remove(entry) }
  }

  /// When all timers are due that can fire together with the one that can wait least; `nil` without
  /// timers.
  private var ringTime: UInt64? {
    guard let end = byLatest.first, let target = byTarget.first, target < end else {
      return byLatest.first
    }
    // A timer without leeway that is due at the end of the window is not in the heap of targets.
    guard let ending = byLatest.last(until: end, limit: Self.mostTargets), !ending.isStrict,
      let last = byTarget.last(until: end, limit: Self.mostTargets)
    else { return end }
    return last.time
  }

  /// Sees to it that the alarm rings in time.
  private func setAlarm() {
    guard alarm >= 0, let latest = byLatest.first else { return }
    // Nothing is due before the alarm: not looked through.
    guard min(latest, byTarget.first ?? latest) < alarmTime else { return }
    guard let time = ringTime, time < alarmTime else { return }
    alarmTime = time
    Alarm.set(alarm, at: max(1, time))
  }

  /// Who is to be told, or what to be submitted.
  private enum Due {
    case lane(Unmanaged<Lane>)
    case work(WorkNode)
  }

  /// Whose time has come; a batch at most.
  private func takeDue(into due: inout [Due]) {
    guard let latest = byLatest.first else { return }
    let now = clock.nanoseconds
    if latest > now, let time = ringTime, time > now { return }
    var left = Self.batch
    // First those that can wait no longer, then all others that are due.
    while left > 0, let entry = byLatest.entry(until: now) ?? byTarget.entry(until: now) {
      left -= 1
      remove(entry)
      guard let receiver = entry.pointee.receiver else { continue }
      switch entry.pointee.kind {
      case .work:
        due.append(.work(WorkNode(receiver)))
        store.put(entry)
      case .none: engineFault("A timer that nobody has is armed.")
      case .lane:
        entry.pointee.state = .fired
        // SAFETY: see TimerEntry.Kind.
        let lane = Unmanaged<Lane>.fromOpaque(receiver)
        if lane.tryRetain() { due.append(.lane(lane)) }
      }
    }
  }

  // MARK: The poller's threads

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { fire(on: thread) }

  private func fire(on thread: ThreadContext) {
    var due: [Due] = []
    while true {
      lock.pointee.withLock {
        takeDue(into: &due)
        guard due.isEmpty else { return }
        // It has rung, or soon will for nothing.
        alarmTime = .max
        setAlarm()
      }
      if due.isEmpty { return }
      for one in due {
        switch one {
        case .work(let node): submit(node, on: thread)
        case .lane(let lane):
          // SAFETY: takeDue() has retained it.
          lane._withUnsafeGuaranteedRef { $0.eventCame(on: thread) }
          lane.release()
        }
      }
      due.removeAll(keepingCapacity: true)
    }
  }

  private func submit(_ node: WorkNode, on thread: ThreadContext) {
    let queue = Unmanaged<Lane>.fromOpaque(node.carrier.unsafelyUnwrapped)
    node.carrier = nil
    // SAFETY: the node's reference, which this takes.
    queue._withUnsafeGuaranteedRef { $0.submit(node, from: thread) }
    queue.release()
  }
}

extension Timers: Lacking {
  /// Any thread.
  func makeAlarm() {
    let set = poller.prepare()
    let error = lock.pointee.withLock { () -> Int32 in
      if alarm >= 0 { return 0 }
      switch poller.open(for: self, in: set, { Alarm.make(isWall: clock == .wall) }) {
      case .failure(let refusal): return refusal.number
      case .success(let own): alarm = own.descriptor
      }
      setAlarm()
      return 0
    }
    if error != 0 { poller.lack(self, error: error) }
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    makeAlarm()
    fire(on: thread)
    return lock.pointee.withLock { alarm >= 0 }
  }
}
