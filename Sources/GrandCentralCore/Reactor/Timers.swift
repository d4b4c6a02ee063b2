// Room: Reactor/Timers. Fires what is due, on one clock.
// Each clock has its own instance: a timer descriptor on the wall clock moves when that clock is
// set, and must not move the other clock's timers. The timer descriptor (TimerFD) is registered
// with the poller.
// A timer's window reaches from its target to its latest time. The earliest latest time ends the
// first window. Every timer whose target is in that window can fire together with the others. All
// of them are due at the last of those targets, and waiting longer saves no wake-up. So a timer
// that is alone in its window fires at its target, and timers whose windows overlap share one
// wake-up. If the window holds more targets than are worth searching, all fire at its end.
// There are two heaps, by latest time and by target; a timer without leeway is only in the first.
// One lock serves both clocks, because a source can change clocks: see TimerShard.
// Invariant: the descriptor fires no later than the earliest latest time, unless a thread is firing
// timers, which sets the descriptor when it has finished. It may fire earlier: disarming the first
// timer, or arming one whose target is in the window, leaves the descriptor as it is, and the
// thread that it wakes sets it again. So arming and disarming a timeout for each request makes no
// system call while an older timeout, or its expiry, is still ahead.

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
  /// Allocated separately. If another instance owns the lock, `lender` keeps that instance alive.
  let lock: UnsafeMutablePointer<Lock>
  private let lender: Timers?
  // Guarded by the lock, as are the properties below.
  let byLatest = TimerHeap(.byLatest)
  let byTarget = TimerHeap(.byTarget)
  let store = TimerStore()
  /// The timer descriptor; -1 before it exists.
  @Cell var timerFD: Int32 = -1
  /// The time that the descriptor is set to; `.max`: it is not set.
  @Cell var timerFDTime = UInt64.max
  /// Whether a thread fires timers.
  @Cell var isFiring = false

  /// The number of timers that fire before other threads can take the lock.
  private static var batch: Int { scaled(256, inModels: 1) }
  /// The number of timers after which a firing ends, at the end of a batch.
  private static var maxFired: Int { scaled(4096, inModels: 2) }
  /// The number of targets of a window that are searched; the search then takes at most about as
  /// long as a wake-up.
  private static var maxTargets: Int { scaled(64, inModels: 2) }

  /// Uses the lock of `other`, the instance for the other clock, if there is one.
  init(clock: TimerClock, poller: Poller, sharing other: Timers? = nil) {
    self.clock = clock
    self.poller = poller
    lender = other
    if let other {
      lock = other.lock
    } else {
      // On lines of its own: what else lay there would move with the lock.
      lock = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
        .bindMemory(to: Lock.self, capacity: 1)
      lock.initialize(to: Lock())
    }
  }

  deinit {
    if lender != nil { return }
    lock.deinitialize(count: 1)
    lock.deallocate()
  }

  /// Calls `body` with the lock held, then makes the descriptor if an armed timer needs it. Any
  /// thread.
  @inline(__always)
  func change<Result>(_ body: (Timers) -> Result) -> Result {
    let (result, isResourceMissing) = lock.pointee.withLock { (body(self), lacksTimerFD) }
    if isResourceMissing { withAmpleStack { makeTimerFD() } }
    return result
  }

  // MARK: Timers of lanes, with the lock held

  /// Makes an entry that notifies `lane`. It must be put back before the lane ends.
  func makeEntry(for lane: Lane) -> TimerHandle { store.take(lane.address, .lane) }

  /// Returns an entry to the store. Called once for each entry.
  func putBack(_ entry: TimerHandle) {
    disarm(entry)
    store.put(entry)
  }

  /// Arms `entry` for a time from `target` to `latest`, in place of an earlier one; a target of
  /// `.max` disarms it.
  func arm(_ entry: TimerHandle, at target: UInt64, until latest: UInt64) {
    disarm(entry)
    insert(entry, at: target, until: latest)
  }

  /// Whether a timer with that target and latest time is due already, and would set the descriptor.
  /// The caller then notifies the lane itself. To set the descriptor to a time that has passed
  /// takes an interrupt of the clock and a wake-up of the poller, three times what the event costs.
  /// False without a descriptor: the thread that answers the event arms the timer for the next
  /// time, and makes none.
  func isDueBeforeOthers(at target: UInt64, until latest: UInt64) -> Bool {
    guard timerFD >= 0, target < timerFDTime, latest <= byLatest.first ?? .max else { return false }
    return target <= clock.nanoseconds
  }

  /// Disarms `entry`. A notification for which it has left the heaps before may still come.
  func disarm(_ entry: TimerHandle) {
    if entry.pointee.isArmed { remove(entry) }
  }

  /// Whether a timer is armed and there is no descriptor. The thread that armed it then makes one,
  /// without the lock.
  var lacksTimerFD: Bool { timerFD < 0 && byLatest.count > 0 }

  // MARK: Work for later

  /// Submits `node` to `queue` at `target`, or at most `leeway` nanoseconds later. Consumes the
  /// node. Any thread.
  func submit(_ node: WorkNode, to queue: Lane, at target: UInt64, leeway: UInt64) {
    node.carrier = Unmanaged.passRetained(queue).toOpaque()
    change {
      let entry = $0.store.take(node.raw, .work)
      $0.insert(entry, at: target, until: TimerEntry.latest(target, leeway: leeway))
    }
  }

  // MARK: With the lock held

  private func insert(_ entry: TimerHandle, at target: UInt64, until latest: UInt64) {
    guard target != .max else { return }
    let hasLeeway = latest > target
    entry.pointee.arm(hasLeeway: hasLeeway)
    byLatest.insert(entry, at: latest)
    if hasLeeway { byTarget.insert(entry, at: target) }
    // No other timer ends a window earlier, so the descriptor is set early enough.
    if entry.pointee.placeByLatest == 0 { setTimerFD() }
  }

  private func remove(_ entry: TimerHandle) {
    byLatest.remove(entry)
    if entry.pointee.hasLeeway { byTarget.remove(entry) }
    entry.pointee.disarm()
  }

  /// The time at which all timers are due that can fire together with the one that can wait least;
  /// `nil` without timers.
  private var fireTime: UInt64? {
    guard let end = byLatest.first, let target = byTarget.first, target < end else {
      return byLatest.first
    }
    // A timer without leeway that is due at the end of the window is not in the heap of targets.
    guard let ending = byLatest.last(until: end, limit: Self.maxTargets), !ending.isStrict,
      let last = byTarget.last(until: end, limit: Self.maxTargets)
    else { return end }
    return last.time
  }

  /// Sets the descriptor, unless it already fires in time.
  private func setTimerFD() {
    guard timerFD >= 0, let latest = byLatest.first else { return }
    // No timer is due before the descriptor fires, so no search is needed.
    guard min(latest, byTarget.first ?? latest) < timerFDTime else { return }
    guard let time = fireTime, time < timerFDTime else { return }
    timerFDTime = time
    TimerFD.set(timerFD, at: max(1, time))
  }

  /// A lane to notify, or the queue that `work` goes to; retained.
  private struct Due {
    let lane: Unmanaged<Lane>
    let work: WorkNode?

    func submit(on thread: ThreadContext) {
      // SAFETY: retained until the firing has ended.
      lane._withUnsafeGuaranteedRef {
        if let work { $0.submit(work, from: thread) } else { $0.eventCame(on: thread) }
      }
    }
  }

  /// Returns the timer to fire next, if one is due: the one with the earliest target, but a source
  /// that can wait no longer comes first. Only delayed work keeps an order.
  private func earliest(until now: UInt64) -> TimerHandle? {
    if let urgent = byLatest.entry(until: now), urgent.pointee.kind == .lane { return urgent }
    // A timer without leeway is only in the heap by latest time. If it is not the first there, the
    // first has leeway, and so a target that is no later.
    if let strict = byLatest.entry(until: now), !strict.pointee.hasLeeway,
      byLatest.first ?? 0 < byTarget.first ?? .max
    {
      return strict
    }
    return byTarget.entry(until: now)
  }

  /// Removes the timers that are due, at most a batch.
  private func takeDue(into due: inout [Due]) {
    guard let latest = byLatest.first else { return }
    let now = clock.nanoseconds
    if latest > now, let time = fireTime, time > now { return }
    var left = Self.batch
    // By target, so that work for later reaches its queue in the order of its deadlines, whatever
    // the leeway of each.
    while left > 0, let entry = earliest(until: now) {
      left -= 1
      remove(entry)
      guard let receiver = entry.pointee.receiver else { continue }
      switch entry.pointee.kind {
      case .work:
        let node = WorkNode(receiver)
        due.append(Due(lane: .fromOpaque(node.carrier.unsafelyUnwrapped), work: node))
        node.carrier = nil
        store.put(entry)
      case .none: engineFault("A timer without a receiver is armed.")
      case .lane:
        // SAFETY: see TimerEntry.Kind.
        let lane = Unmanaged<Lane>.fromOpaque(receiver)
        if lane.tryRetain() { due.append(Due(lane: lane, work: nil)) }
      }
    }
  }

  // MARK: Poller threads

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { fire(on: thread) }

  /// Submits what is due, in the order of its targets. One thread does so at a time: see "Order of
  /// timers" in the README.
  private func fire(on thread: ThreadContext) {
    var due: [Due] = []
    var submitted = 0
    repeat {
      for index in submitted..<due.count { due[index].submit(on: thread) }
      submitted = due.count
    } while lock.pointee.withLock({ takeNext(into: &due) })
    // Now, because the last release of a lane may run code of the program.
    for one in due { one.lane.release() }
  }

  /// Appends a batch of what is due to what the thread has fired, or ends its firing. Returns
  /// whether there is a batch. Call with the lock held.
  private func takeNext(into due: inout [Due]) -> Bool {
    let fired = due.count
    // That thread looks again before it ends.
    if fired == 0 && isFiring { return false }
    if fired < Self.maxFired { takeDue(into: &due) }
    let isBatch = due.count > fired
    isFiring = isBatch
    if !isBatch {
      // The descriptor has fired, or will fire once spuriously.
      timerFDTime = .max
      setTimerFD()
    }
    return isBatch
  }
}

extension Timers: ResourceRetry {
  /// Makes the timer descriptor if it is missing, or registers for a retry. Any thread.
  func makeTimerFD() {
    let error = tryMakingTimerFD()
    if error != 0 { poller.lack(self, error: error) }
  }

  /// Returns 0 or an errno.
  private func tryMakingTimerFD() -> Int32 {
    let set = poller.prepare()
    return lock.pointee.withLock { () -> Int32 in
      if timerFD >= 0 { return 0 }
      switch poller.open(for: self, in: set, { TimerFD.make(isWall: clock == .wall) }) {
      case .failure(let refusal): return refusal.number
      case .success(let own): timerFD = own.descriptor
      }
      setTimerFD()
      return 0
    }
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    let error = tryMakingTimerFD()
    fire(on: thread)
    return error == 0
  }
}
