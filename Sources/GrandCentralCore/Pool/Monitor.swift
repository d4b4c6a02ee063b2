// Room: Pool/Monitor. Finds workers whose items block others: items that sleep without an
// announcement, in read(2), on a lock, in usleep(3), or that compute for long.
// The monitor is a thread that sleeps without a timer until work finds every CPU or thread taken.
// It is made then, or when a worker first goes idle: later the system may refuse it
// (Pool+Shortage). While awake it looks at the pool once a millisecond (Monitor+Look), and the
// policy decides what follows (GrowthPolicy). It also names threads (WorkerName), and ends the
// process when no other thread is left (Monitor+LastThread).
import CGrandCentralLinux

final class Monitor: @unchecked Sendable {
  let mode: Atomic<MonitorMode>
  /// When prepare() may try again, in monotonic nanoseconds.
  let nextPreparation = Atomic<UInt64>(0)
  // Only the monitor thread uses these.
  var quietRounds = 0
  /// When it last gave memory of free nodes back, in monotonic nanoseconds.
  private var lastTrim: UInt64 = 0
  var looks = Looks()
  /// Whether a quota limits the CPU time of the process, and when that was read.
  private var quota = (isThere: true, readAt: UInt64(0))
  var restingLanes = RestingLanes()
  var lanesBehindOthers = LanesBehindOthers()
  var itemsBehindLanes = ItemsBehindLanes()

  static var periodNanoseconds: UInt64 { 1_000_000 }
  /// The pause before the first look after a rest. The next pauses double: where a first burst of
  /// items sleeps, it needs more threads, and no look has said so yet.
  private static var firstPauseNanoseconds: UInt64 { 250_000 }
  /// The least pause after a look, as a multiple of the CPU time that the look took.
  private static var restFactor: UInt64 { 8 }
  private static var longestPeriodNanoseconds: UInt64 { 64_000_000 }
  private static var preparationPeriodNanoseconds: UInt64 { 100_000_000 }
  private static var quietRoundsBeforeSleep: Int { 20 }

  /// A model's monitor may begin asleep, without a thread.
  init(mode: MonitorMode = .absent) { self.mode = Atomic(mode) }

  /// Whether the monitor's thread exists. It ends only with the process.
  var isThere: Bool {
    // relaxed: only the number counts. Callers that rely on the monitor read the mode in watch().
    mode.load(ordering: .relaxed).hasThread
  }

  /// Wakes or makes the monitor, because work waits while every allowed worker is active.
  /// `isUrgent`: request the thread even if another was just refused.
  @inline(__always)
  func watch(_ pool: Pool, isUrgent: Bool = false) {
    // sequentiallyConsistent: the submitter's half of the pairs in rest() and start().
    let seen = mode.load(ordering: .sequentiallyConsistent)
    if seen == .watching || seen == .starting { return }
    beginWatch(of: pool, isUrgent: isUrgent, from: seen)
  }

  /// Wakes the thread that was seen asleep, or makes it.
  @inline(never)
  private func beginWatch(of pool: Pool, isUrgent: Bool, from seen: MonitorMode) {
    guard seen == .asleep else {
      if isUrgent || !pool.isRefused { start(pool) } else { pool.retryWithoutThread() }
      return
    }
    // relaxed: each look scans everything, and the last scan before a sleep is argued in rest().
    // The caller's load read `asleep`, so the guess of the transition is no older.
    if mode.transition(.relaxed, to: { $0.woken() }) { futexWake(mode) }
  }

  /// Makes the monitor's thread before it is needed. Called by a worker that goes idle.
  func prepare(_ pool: Pool) {
    guard mode.load(ordering: .relaxed) == .absent else { return }
    let now = Clock.monotonicNanoseconds()
    guard now >= nextPreparation.load(ordering: .relaxed) else { return }
    nextPreparation.store(now + Self.preparationPeriodNanoseconds, ordering: .relaxed)
    start(pool)
  }

  private func start(_ pool: Pool) {
    // relaxed: decides only which thread makes the monitor's.
    guard mode.transition(.relaxed, to: { $0.starting() }) else { return }
    let argument = Unmanaged.passRetained(pool)
    let error = pool.spawn(
      { argument in
        // SAFETY: the reference passed below, owned by this thread.
        let pool = Unmanaged<Pool>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
        nameThread(ThreadName("gc-monitor"))
        let thread = currentThread()
        pool.takeFirstSteps(of: thread) {
          if pool.configuration.hasEffects { ThreadEffects.adopt(thread, isReplaceable: false) }
        }
        pool.monitor.run(pool)
      }, argument.toOpaque(), stackBytes: 256 * 1024)
    if error == 0 { return ThreadlessRetry.end(pool) }
    argument.release()
    // sequentiallyConsistent: a submitter publishes work and reads the mode; we set the mode and
    // check for work. Either the submitter sees that there is no monitor, or we see its work.
    mode.transition(.sequentiallyConsistent, to: { $0.refused() })
    if pool.hasWork() { pool.retryWithoutThread() }
    pool.reportRefusal(error)
  }

  private func run(_ pool: Pool) -> Never {
    let never = Atomic<UInt32>(0)
    var usual = Self.firstPauseNanoseconds
    var period = usual
    looks.lastNanoseconds = Clock.monotonicNanoseconds()
    mode.transition(.relaxed, to: { $0.began() })
    while true {
      let next = Clock.monotonicNanoseconds() + period
      while futexWait(never, while: 0, until: .monotonic(nanoseconds: next)) != .timedOut {}
      if pool.configuration.hasEffects { pool.startWaitingWorkers() }
      pool.refreshWidth()
      let hasWork = pool.hasWork()
      let refused = pool.refusals.load(ordering: .relaxed)
      let cost = look(at: pool, hasWork: hasWork)
      if hasWork { pool.wakeIfNeeded() }
      // A refusal costs tens of microseconds, and without threads a look changes nothing.
      let isRefused = pool.refusals.load(ordering: .relaxed) != refused
      // A look at hundreds of workers takes a while.
      usual = min(2 * usual, Self.periodNanoseconds)
      let least = max(usual, Self.restFactor * cost)
      period = min(isRefused ? max(2 * period, least) : least, Self.longestPeriodNanoseconds)
      quietRounds = hasWork || looks.changesLater ? 0 : quietRounds + 1
      if quietRounds >= Self.quietRoundsBeforeSleep {
        rest(pool)
        usual = Self.firstPauseNanoseconds
        period = usual
        looks.lastNanoseconds = Clock.monotonicNanoseconds()
      }
    }
  }

  /// Whether a quota limits the CPU time of the process, as read in the last second; true where
  /// nothing says so.
  func isUnderQuota(_ pool: Pool, at now: UInt64) -> Bool {
    guard let read = pool.configuration.hasQuota else { return true }
    if quota.readAt == 0 || now - quota.readAt >= Pool.quotaNanoseconds { quota = (read(), now) }
    return quota.isThere
  }

  var ownCPUNanoseconds: Int64 {
    Clock.cpuNanoseconds(ofThread: currentThread().pointee.tid) ?? 0
  }

  /// Sleeps until watch() is called.
  func rest(_ pool: Pool) {
    // The pool of the process.
    if pool.configuration.hasEffects {
      trimNodes(keepAlive: pool.configuration.keepAliveNanoseconds)
    }
    quietRounds = 0
    looks = Looks()
    pool.raisedThreads.store(0, ordering: .relaxed)
    pool.beyondWidth.store(0, ordering: .relaxed)
    pool.lanesBeyond.store(0, ordering: .relaxed)
    pool.reported.store(0, ordering: .relaxed)
    // `lanesOvercommit`, `restingLanes`, `lanesBehindOthers` and `itemsBehindLanes` stay: the lanes
    // that were overdue probably still run, and what comes will probably rest, or wait behind other
    // work, as the last ones did, and should not wait for a look. The next look decides anew, and
    // what follows the last one asks for it.
    // sequentiallyConsistent: the pair of Pool+Park.swift again. A submitter publishes work and
    // reads the mode; we set the mode and check for work. `workersToStart` likewise: its lock
    // orders the append before our look, or our mode before the submitter's watch(). And so does a
    // worker that is to be lowered later.
    mode.transition(.sequentiallyConsistent, to: { $0.resting() })
    if pool.hasWork()
      || (pool.configuration.hasEffects && (pool.hasWorkersToStart || pool.hasThreadsToChange))
    {
      mode.transition(.relaxed, to: { $0.woken() })
      return
    }
    sleep(pool)
  }

  /// Gives memory of free nodes back, as a worker does that ends: in a busy program none may. A
  /// part at a time: work that comes meanwhile waits for this thread.
  private func trimNodes(keepAlive: UInt64) {
    let now = Clock.monotonicNanoseconds()
    guard now &- lastTrim >= keepAlive else { return }
    lastTrim = now
    NodeCache.depot.trim(atMost: Self.regionsInTrim)
  }

  private static var regionsInTrim: Int { 32 }

  func mark(_ worker: Worker, in pool: Pool) -> Bool {
    // acquiring: acquires the count of comeBack(), from which this subtracts the worker.
    let (done, _) = worker.status.compareExchange(
      expected: .running, desired: .uncounted, ordering: .acquiring)
    if done { pool.change { $0.blocked() } }
    return done
  }

  func unmark(_ worker: Worker, in pool: Pool) {
    // Count first: right after the exchange the worker may announce a wait and subtract itself, and
    // the active count must include it by then.
    pool.change { $0.unblocked() }
    // releasing: releases this count to the worker that subtracts itself.
    let (done, _) = worker.status.compareExchange(
      expected: .uncounted, desired: .running, ordering: .releasing)
    if !done { pool.change { $0.blocked() } }
  }
}
