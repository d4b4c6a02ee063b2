// Room: Pool/Monitor. Notices workers whose items sleep without saying so: in read(2), on a lock, in
// usleep(3).
// A thread of its own, asleep without a timer unless work finds every CPU or thread taken. It is started
// when that is first so, or when a worker first has nothing to do: by the time that it is needed the system
// may refuse it (Pool+Shortage). While it watches it looks once a millisecond at each worker that took
// nothing since the last look: if its thread used no CPU time and the kernel says that it sleeps, the worker
// is no longer counted active, and another takes its place.
// How many threads that may make:
//   a handful (firstThreads) at once, by whoever submits or goes to sleep
//   up to softThreads   as many again as are asleep, each millisecond: 2, 4, 8 … after 1, 2, 3 … ms
//   up to mostThreads   only while nothing moves at all: then items probably wait for queued ones. After
//                       two rounds if every sleeper has said that it waits; after a tenth of a second if
//                       some sleep in silence, since these may just be slow
// It also names threads that stay with a queue after that queue: see WorkerName.
// So items that wait in turn for a few permits do not get a thread each, and five hundred that wait for
// each other do.
import CLinux

final class Monitor: @unchecked Sendable {
  /// 0 no thread ─start→ 3 starting │ 1 watching │ 2 asleep
  ///                      └─refused→ 0
  let mode: Atomic<UInt32>
  /// When prepare() may try again, on the monotonic clock.
  private let nextPreparation = Atomic<UInt64>(0)
  // The monitor thread's own.
  private var quietRounds = 0
  private var stalledRounds = 0
  /// By band: looks in a row that found work, and nobody at it.
  private var starvedRounds = [Int](repeating: 0, count: Band.allCases.count)

  private static var periodNanoseconds: UInt64 { 1_000_000 }
  private static var longestPeriodNanoseconds: UInt64 { 64_000_000 }
  private static var preparationPeriodNanoseconds: UInt64 { 100_000_000 }
  private static var quietRoundsBeforeSleep: Int { 20 }
  private static var stalledRoundsBeforeGrowth: Int { 100 }
  private static var growthWhenStalled: Int { 16 }
  private static var stalledRoundsBeforeReport: Int { 20 }
  private static var silentRoundsBeforeAsleep: Int { 20 }

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
    for index in starvedRounds.indices { starvedRounds[index] = 0 }
    quietRounds = 0
    stalledRounds = 0
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
      look(at: pool, hasWork: hasWork)
      let refused = pool.refusals.load(ordering: .relaxed)
      if hasWork { pool.wakeIfNeeded() }
      // Asking in vain costs tens of microseconds, and what a look finds cannot be acted upon.
      let isRefused = pool.refusals.load(ordering: .relaxed) != refused
      period = isRefused ? min(2 * period, Self.longestPeriodNanoseconds) : Self.periodNanoseconds
      quietRounds = hasWork ? 0 : quietRounds + 1
      if quietRounds >= Self.quietRoundsBeforeSleep { rest(pool) }
    }
  }

  /// Sleeps until watch() is called.
  func rest(_ pool: Pool) {
    quietRounds = 0
    for index in starvedRounds.indices { starvedRounds[index] = 0 }
    pool.threadAllowance.store(pool.firstThreads.load(ordering: .relaxed), ordering: .relaxed)
    pool.allowance.store(pool.width.load(ordering: .relaxed), ordering: .relaxed)
    pool.reportedLimit.store(false, ordering: .relaxed)
    // sequentiallyConsistent: the pair of Pool+Park.swift once more; a submitter publishes work and
    // reads the mode, we set the mode and look for work.
    mode.store(2, ordering: .sequentiallyConsistent)
    if pool.hasWork() || (pool.configuration.hasEffects && pool.hasWorkersToStart) {
      _ = mode.compareExchange(expected: 2, desired: 1, ordering: .relaxed)
      return
    }
    while mode.load(ordering: .relaxed) == 2 { _ = futexWait(mode, while: 2) }
  }

  /// What one look found.
  private struct Round {
    var sampled = 0
    var announced = 0
    var running = 0
    var hasProgress = false
    /// Bands that somebody works in, and bands of what is in rings.
    var bandsAtWork: UInt8 = 0
    var bandsInRings: UInt8 = 0
  }

  private func look(at pool: Pool, hasWork: Bool) {
    var round = Round()
    for index in 0..<pool.workerCount.load(ordering: .acquiring) {
      guard let worker = pool.worker(at: index) else { continue }
      let picks = worker.picks.load(ordering: .relaxed)
      let hasPicked = picks != worker.lastPicks
      worker.lastPicks = picks
      if hasPicked {
        round.hasProgress = true
      } else {
        nameAfterQueue(worker, at: picks)
      }
      for kind in WorkKind.allCases { round.bandsInRings |= 1 << worker.bandInRing(kind).rawValue }
      switch worker.status.load(ordering: .relaxed) {
      case .away: break
      case .announced: round.announced += 1
      case .running:
        if isAsleep(worker, hasPicked: hasPicked), mark(worker, in: pool) {
          round.sampled += 1
        } else {
          round.running += 1
          round.bandsAtWork |= 1 << worker.visibleBand.load(ordering: .relaxed)
        }
      case .sampled:
        if isAsleep(worker, hasPicked: false) {
          round.sampled += 1
        } else {
          round.running += 1
          unmark(worker, in: pool)
        }
      }
    }
    let stands = hasWork && round.running == 0 && !round.hasProgress
    stalledRounds = stands ? stalledRounds + 1 : 0
    adjustWidth(pool, hasWork: hasWork, round)
    if hasWork { adjustThreads(pool, round) }
    relieveStarved(pool, round)
  }

  /// A class that has had work for long, and nobody at it while others are at higher work, gets a worker.
  private func relieveStarved(_ pool: Pool, _ round: Round) {
    let waiting = pool.sourcesWaiting.load(ordering: .relaxed)
    let bands = UInt8(truncatingIfNeeded: waiting | waiting >> 8) | round.bandsInRings
    for band in Band.allCases where band != .unspecified {
      let bit: UInt8 = 1 << band.rawValue
      let isStarved =
        bands & bit != 0 && round.bandsAtWork & bit == 0
        && round.bandsAtWork >> (band.rawValue + 1) != 0
      let rounds = isStarved ? starvedRounds[Int(band.rawValue)] + 1 : 0
      starvedRounds[Int(band.rawValue)] = rounds % Pool.starvedRounds
      if rounds == Pool.starvedRounds { pool.relieve(band) }
    }
  }

  /// Active workers beyond the width, while what runs turns out to sleep.
  private func adjustWidth(_ pool: Pool, hasWork: Bool, _ round: Round) {
    let width = pool.width.load(ordering: .relaxed)
    var extra = max(0, pool.allowance.load(ordering: .relaxed) - width)
    if !hasWork {
      extra = 0
    } else if round.running > width {
      extra = max(0, extra - (round.running - width))
    } else if round.running == 0 {
      extra = min(round.sampled, max(0, pool.configuration.softThreads - round.sampled))
    }
    pool.allowance.store(width + extra, ordering: .relaxed)
  }

  private func adjustThreads(_ pool: Pool, _ round: Round) {
    let seen = pool.state.load(ordering: .relaxed)
    guard seen.idle == 0, seen.active < pool.allowance.load(ordering: .relaxed) else { return }
    let limits = pool.configuration
    if seen.threads >= limits.mostThreads {
      if stalledRounds >= Self.stalledRoundsBeforeReport { pool.reportLimit() }
    } else if seen.threads < limits.softThreads {
      let more = max(2, round.sampled + round.announced)
      pool.threadAllowance.store(
        min(limits.softThreads, seen.threads + more), ordering: .relaxed)
    } else {
      let patience = round.sampled == 0 ? 2 : Self.stalledRoundsBeforeGrowth
      guard stalledRounds >= patience else { return }
      stalledRounds = 0
      let more = round.sampled == 0 ? seen.threads / 2 : Self.growthWhenStalled
      pool.threadAllowance.store(
        min(limits.mostThreads, seen.threads + more), ordering: .relaxed)
    }
  }

  private func isAsleep(_ worker: Worker, hasPicked: Bool) -> Bool {
    let thread = worker.threadID.load(ordering: .relaxed)
    guard thread != 0, let used = Clock.cpuNanoseconds(ofThread: thread) else { return false }
    let hasRun = used != worker.lastCPUNanoseconds
    worker.lastCPUNanoseconds = used
    guard !hasPicked && !hasRun else {
      worker.silentRounds = 0
      return false
    }
    // A thread that waits for a CPU used none either, but its state is R. Where that cannot be read, a
    // thread that gets no CPU for long is taken for asleep: if it is not, there is one worker too many
    // for a while.
    guard let state = Process.threadState(thread) else {
      worker.silentRounds += 1
      return worker.silentRounds >= Self.silentRoundsBeforeAsleep
    }
    return state == "S" || state == "D"
  }

  func mark(_ worker: Worker, in pool: Pool) -> Bool {
    let (done, _) = worker.status.compareExchange(
      expected: .running, desired: .sampled, ordering: .relaxed)
    if done { pool.change { $0.blocked() } }
    return done
  }

  func unmark(_ worker: Worker, in pool: Pool) {
    // Counted first, so that a worker which announces itself in between is not taken from an active count
    // that has not got it back yet.
    pool.change { $0.unblocked() }
    let (done, _) = worker.status.compareExchange(
      expected: .sampled, desired: .running, ordering: .relaxed)
    if !done { pool.change { $0.blocked() } }
  }
}
