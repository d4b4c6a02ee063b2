// Room: Pool/Monitor. Notices workers whose items make no room for others: that sleep without an
// announcement, in read(2), on a lock, in usleep(3), or that compute for long.
// A thread of its own, asleep without a timer unless work finds every CPU or thread taken. It is started
// when that is first so, or when a worker first has nothing to do: by the time that it is needed the system
// may refuse it (Pool+Shortage). While it watches it looks at the pool once a millisecond
// (Monitor+Look), and the policy decides what follows (GrowthPolicy). It also names threads that
// stay with a queue: see WorkerName.
import CLinux

final class Monitor: @unchecked Sendable {
  /// 0 no thread ─start→ 3 starting │ 1 watching │ 2 asleep
  ///                      └─refused→ 0
  let mode: Atomic<UInt32>
  /// When prepare() may try again, on the monotonic clock.
  private let nextPreparation = Atomic<UInt64>(0)
  // The monitor thread's own.
  private var quietRounds = 0
  var looks = Looks()

  static var periodNanoseconds: UInt64 { 1_000_000 }
  /// A look that takes long is followed by so many times that long without one.
  private static var restFactor: UInt64 { 8 }
  private static var longestPeriodNanoseconds: UInt64 { 64_000_000 }
  private static var preparationPeriodNanoseconds: UInt64 { 100_000_000 }
  private static var quietRoundsBeforeSleep: Int { 20 }

  /// A model's monitor may begin asleep, with no thread.
  init(mode: UInt32 = 0) { self.mode = Atomic(mode) }

  /// Whether the thread runs. It never ends.
  var isThere: Bool {
    // relaxed: only the number counts. Who relies on the monitor reads it in watch().
    let seen = mode.load(ordering: .relaxed)
    return seen == 1 || seen == 2
  }

  /// Work waits while every worker that there may be is active. `isUrgent`: ask for the thread even if
  /// another was refused a moment ago.
  func watch(_ pool: Pool, isUrgent: Bool = false) {
    // sequentiallyConsistent: the submitter's half of the pairs in rest() and start().
    switch mode.load(ordering: .sequentiallyConsistent) {
    case 1, 3: return
    case 2:
      // relaxed: it will look at everything, each time, and before it rests again it looks as rest() argues.
      if mode.exchange(1, ordering: .relaxed) == 2 { futexWake(mode) }
    default:
      if isUrgent || !pool.isRefused { start(pool) } else { pool.keepVigil() }
    }
  }

  /// A worker has nothing to do: makes the thread before it is needed.
  func prepare(_ pool: Pool) {
    guard mode.load(ordering: .relaxed) == 0 else { return }
    let now = Clock.monotonicNanoseconds()
    guard now >= nextPreparation.load(ordering: .relaxed) else { return }
    nextPreparation.store(now + Self.preparationPeriodNanoseconds, ordering: .relaxed)
    start(pool)
  }

  private func start(_ pool: Pool) {
    guard mode.compareExchange(expected: 0, desired: 3, ordering: .relaxed).exchanged else {
      return
    }
    let argument = Unmanaged.passRetained(pool)
    let error = pool.spawn(
      { argument in
        // SAFETY: the reference passed below, owned by this thread.
        let pool = Unmanaged<Pool>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
        nameThread(ThreadName("gc-monitor"))
        let thread = currentThread()
        ForkGate.inside(thread) {
          if pool.configuration.hasEffects { ThreadEffects.adopt(thread, isReplaceable: false) }
        }
        pool.monitor.run(pool)
      }, argument.toOpaque(), stackBytes: 256 * 1024)
    if error == 0 { return Vigil.end(pool) }
    argument.release()
    // sequentiallyConsistent: a submitter publishes work and reads the mode, we set the mode and look
    // for work. Either it sees that nobody watches, or we see what it relied on us for.
    mode.store(0, ordering: .sequentiallyConsistent)
    if pool.hasWork() { pool.keepVigil() }
    pool.reportRefusal(error)
  }

  /// In a child that was forked its thread is gone.
  func afterFork() {
    quietRounds = 0
    looks = Looks()
    nextPreparation.store(0, ordering: .relaxed)
    mode.store(0, ordering: .relaxed)
  }

  private func run(_ pool: Pool) -> Never {
    let never = Atomic<UInt32>(0)
    var period = Self.periodNanoseconds
    mode.store(1, ordering: .relaxed)
    while true {
      let next = Clock.monotonicNanoseconds() + period
      while futexWait(never, while: 0, until: .monotonic(nanoseconds: next)) != .timedOut {}
      if pool.configuration.hasEffects { pool.startWaitingWorkers() }
      pool.refreshWidth()
      let hasWork = pool.hasWork()
      let refused = pool.refusals.load(ordering: .relaxed)
      let cost = look(at: pool, hasWork: hasWork)
      if hasWork { pool.wakeIfNeeded() }
      // A refusal costs tens of microseconds, and what a look finds has no consequence.
      let isRefused = pool.refusals.load(ordering: .relaxed) != refused
      // Hundreds of workers take a while to look at.
      let least = max(Self.periodNanoseconds, Self.restFactor * cost)
      period = min(isRefused ? max(2 * period, least) : least, Self.longestPeriodNanoseconds)
      quietRounds = hasWork ? 0 : quietRounds + 1
      if quietRounds >= Self.quietRoundsBeforeSleep { rest(pool) }
    }
  }

  var ownCPUNanoseconds: Int64 {
    Clock.cpuNanoseconds(ofThread: currentThread().pointee.tid) ?? 0
  }

  /// Sleeps until watch() is called.
  func rest(_ pool: Pool) {
    quietRounds = 0
    looks = Looks()
    pool.threadAllowance.store(pool.firstThreads.load(ordering: .relaxed), ordering: .relaxed)
    pool.allowance.store(pool.width.load(ordering: .relaxed), ordering: .relaxed)
    pool.lanesBeyond.store(0, ordering: .relaxed)
    pool.reported.store(0, ordering: .relaxed)
    // sequentiallyConsistent: the pair of Pool+Park.swift once more; a submitter publishes work and
    // reads the mode, we set the mode and look for work.
    mode.store(2, ordering: .sequentiallyConsistent)
    if pool.hasWork() || (pool.configuration.hasEffects && pool.hasWorkersToStart) {
      _ = mode.compareExchange(expected: 2, desired: 1, ordering: .relaxed)
      return
    }
    while mode.load(ordering: .relaxed) == 2 { _ = futexWait(mode, while: 2) }
  }

  func mark(_ worker: Worker, in pool: Pool) -> Bool {
    let (done, _) = worker.status.compareExchange(
      expected: .running, desired: .uncounted, ordering: .relaxed)
    if done { pool.change { $0.blocked() } }
    return done
  }

  func unmark(_ worker: Worker, in pool: Pool) {
    // Counted first, so that a worker which announces itself in between is not taken from an active count
    // that has not got it back yet.
    pool.change { $0.unblocked() }
    let (done, _) = worker.status.compareExchange(
      expected: .uncounted, desired: .running, ordering: .relaxed)
    if !done { pool.change { $0.blocked() } }
  }
}
