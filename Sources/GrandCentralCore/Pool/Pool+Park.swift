// Room: Pool/Pool+Park. How workers wake, sleep, step back and leave.
// Sleep/wake, from both sides, all sequentially consistent:
//   a submitter   publishes the node (ring tail or inbox), then reads the state word
//   a worker      leaves `searching` in the state word, then reads every ring and inbox
// In the single order of these four, either the submitter's read comes after the worker's exchange, and
// it wakes somebody since nobody searches; or the worker's read comes after the node, and it takes
// itself back. Without that order both could miss: the store and the load of one side are to different
// words, which the hardware may swap.
// Work that is moved while a worker looks, from an inbox or a ring that it has not come to yet to a ring that
// it has passed, is missed whatever the orderings. Only searchers move more than they take, and a searcher
// looks again when it stops (stopSearching): either the looker had left `searching` by then, and is woken, or
// its own exchange comes later in the state word, and it sees all that was moved before.
// At most one wake-up is under way: a woken worker counts as searching from the moment it is chosen,
// and submitters stay away while anybody searches. When it finds work and was the last to search, it
// wakes the next if there is more. After rayon's and tokio's sleep protocols.
import CLinux

extension Pool {
  /// Work has been published: get somebody for it, if that helps. Never blocks for long.
  func wakeIfNeeded() {
    // sequentiallyConsistent: the submitter's half of the pair above.
    let seen = state.load(ordering: .sequentiallyConsistent)
    if seen.searching > 0 { return }
    var allowed = allowance.load(ordering: .relaxed)
    if seen.idle == 0 && seen.active < allowed && configuration.readMask != nil {
      // A thread is going to be made.
      followMask()
      allowed = allowance.load(ordering: .relaxed)
    }
    if seen.active < allowed { return wake(width: allowed, extra: 0) }
    let extra = extraForUrgent()
    if seen.active >= allowed + extra { return monitor.watch(self) }
    wake(width: allowed, extra: extra)
  }

  /// Wakes an idle worker and gives it `node` with the wake-up, if one would be woken anyway: it need not
  /// look for the node then, which spares it half a dozen cache lines that are cold. Only for threads
  /// outside the pool; a worker's own ring is where it finds its work soonest itself.
  func handToIdle(_ node: WorkNode, _ source: Source) -> Bool {
    var allowed = allowance.load(ordering: .relaxed)
    // relaxed: a guess; the exchange below decides.
    let seen = state.load(ordering: .relaxed)
    guard seen.searching == 0, seen.idle > 0 else { return false }
    var overcommits = false
    if seen.active >= allowed {
      allowed += extra(for: source.band)
      // What is overdue keeps the CPUs, and the kernel shares them.
      overcommits = source.kind == .lanes && lanesOvercommit.load(ordering: .relaxed)
      guard seen.active < allowed || overcommits else { return false }
    }
    idleLock.lock()
    let isChosen = changeIfApplicable { state in
      // The number of threads does not matter where an idle one is taken.
      let (next, action) =
        overcommits && state.searching == 0
        ? state.calledUp(mostThreads: 0) : state.woken(width: allowed, mostThreads: 0)
      return action == .wakeIdle ? next : nil
    }
    guard isChosen else {
      idleLock.unlock()
      return false
    }
    let chosen = idleStack.removeLast()
    chosen.isOnIdleStack = false
    idleLock.unlock()
    chosen.hand(node, band: source.band)
    // SAFETY of force: set before a worker is first idle.
    Parker.grant(chosen.thread.unsafelyUnwrapped)
    return true
  }

  /// `extra`: workers, and threads, beyond what all may have: see Pool+Classes.
  private func wake(width allowed: Int, extra: Int) {
    let mostThreads = min(
      configuration.mostThreads, threadAllowance.load(ordering: .relaxed) + extra)
    let (action, chosen) = choose {
      $0.woken(width: allowed + extra, mostThreads: isRefused ? 0 : mostThreads)
    }
    if action == .saturated { return monitor.watch(self) }
    if let chosen { send(chosen) }
  }

  /// Decides by the state who is to come, and takes a worker off the idle stack, or a record for a new thread.
  func choose(
    _ decide: (PoolState) -> (PoolState, PoolState.WakeAction)
  ) -> (PoolState.WakeAction, (worker: Worker, isNew: Bool)?) {
    idleLock.withLock {
      var seen = state.load(ordering: .relaxed)
      while true {
        let (next, action) = decide(seen)
        if action == .nothing || action == .saturated { return (action, nil) }
        let (won, now) = state.weakCompareExchange(
          expected: seen, desired: next, successOrdering: .sequentiallyConsistent,
          failureOrdering: .relaxed)
        guard won else {
          seen = now
          continue
        }
        if action == .spawn { return (action, (freeWorkers.popLast() ?? makeWorker(), true)) }
        let chosen = idleStack.removeLast()
        chosen.isOnIdleStack = false
        return (action, (chosen, false))
      }
    }
  }

  func send(_ chosen: (worker: Worker, isNew: Bool)) {
    if chosen.isNew {
      start(chosen.worker)
    } else if let thread = chosen.worker.thread {
      Parker.grant(thread)
    }
  }

  /// Under the idle lock.
  func makeWorker(guest: String? = nil) -> Worker {
    let index = workerCount.load(ordering: .relaxed)
    invariant(
      index < configuration.mostThreads + Self.mostGuests, "There are \(index) workers already.")
    let worker = Worker(index: index, pool: self, guest: guest)
    workers[index] = Unmanaged.passRetained(worker)
    // releasing: pairs with the acquiring loads of those who walk the workers. sequentiallyConsistent:
    // a worker that looks for work before it parks must not miss the rings of a new one.
    workerCount.store(index + 1, ordering: .sequentiallyConsistent)
    return worker
  }

  private func start(_ worker: Worker) {
    if configuration.hasEffects, monitor.isThere,
      !ThreadEffects.makesPlainThreads(currentThread())
    {
      idleLock.withLock { workersToStart.append(worker) }
      return monitor.watch(self)
    }
    makeThread(for: worker)
  }

  /// By the monitor: for those who would make lowered ones.
  func startWaitingWorkers() {
    while let worker = idleLock.withLock({ workersToStart.popLast() }) { makeThread(for: worker) }
  }

  var hasWorkersToStart: Bool { idleLock.withLock { !workersToStart.isEmpty } }

  private func makeThread(for worker: Worker) {
    // Read here and not by the new thread: while a thread is made, its maker blocks every signal.
    let start = Unmanaged.passRetained(
      WorkerStart(pool: self, worker: worker, blocked: configuration.readBlockedSignals()))
    let error = spawn(
      { argument in
        // SAFETY: the pair passed below, owned by this thread.
        let start = Unmanaged<WorkerStart>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        start.pool.runWorker(start.worker, blocked: start.blocked)
        return nil
      }, start.toOpaque(), stackBytes: 0)
    if error == 0 { return }
    start.release()
    if let (node, band) = worker.takeHanded() { putBack(node, band: band) }
    idleLock.withLock { freeWorkers.append(worker) }
    change { $0.spawnFailed() }
    // Whoever submitted meanwhile saw a searcher that never came; the monitor looks for all of them.
    monitor.watch(self, isUrgent: true)
    reportRefusal(error)
  }

  // MARK: A worker's life

  func runWorker(_ worker: Worker, blocked: UInt64?) {
    let thread = currentThread()
    ForkGate.inside(thread) {
      nameThread(worker.plainName)
      worker.name.began()
      // Children of items inherit the worker's mask, so it must be the program's, not the submitter's.
      if let blocked { setBlockedSignals(blocked) }
      if configuration.hasEffects { ThreadEffects.adopt(thread, isReplaceable: true) }
      worker.thread = thread
      worker.threadID.store(thread.pointee.tid, ordering: .relaxed)
      thread.pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
      worker.isSearching = true
    }
    while runUntilIdle(worker, thread) && grandCentralWorkerIdle(worker, thread) {}
    thread.pointee.worker = nil
    ThreadEffects.leave(thread)
  }

  /// False: the thread is of no use any more.
  private func runUntilIdle(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.status.store(.running, ordering: .relaxed)
    var takesLanesOnly = false
    while true {
      while let node = takeHanded(by: worker)
        ?? (takesLanesOnly ? takeLane(for: worker) : take(for: worker))
      {
        stopSearching(worker)
        let isReady = ThreadEffects.isInEffect(worker.band, on: thread)
        switch isReady ? .run : prepare(for: node, worker, thread) {
        case .run: grandCentralWorkerActive(node, worker, thread)
        case .leave: break
        case .end: return false
        }
        if worker.status.load(ordering: .relaxed) != .running { comeBack(worker) }
        takesLanesOnly = false
        let active = state.load(ordering: .relaxed).active
        let allowed = allowance.load(ordering: .relaxed)
        if active > allowed {
          takesLanesOnly = active <= allowed + lanesBeyond.load(ordering: .relaxed)
          if !takesLanesOnly && stepBack(worker, thread) { return true }
        }
      }
      guard takesLanesOnly else {
        if park(worker, thread) { return true }
        continue
      }
      takesLanesOnly = false
      if stepBack(worker, thread) { return true }
    }
  }

  private func takeHanded(by worker: Worker) -> WorkNode? {
    guard let (node, band) = worker.takeHanded() else { return nil }
    enter(band, worker)
    return node
  }

  /// Runs one node. Not inlined: this frame in a backtrace says that the worker is at work.
  @inline(never)
  func grandCentralWorkerActive(
    _ node: WorkNode, _ worker: Worker, _ thread: ThreadContext
  ) {
    let traits = node.traits
    thread.pointee.qos = traits.qos.rawValue
    Standing.adopt(worker.band, on: thread)
    let isInLane = node.kind == .lanes
    if worker.isInLane.load(ordering: .relaxed) != isInLane {
      worker.isInLane.store(isInLane, ordering: .relaxed)
    }
    // An item of a global queue: a label that the thread carries is that of another queue.
    if traits.isDisjoint(with: [.lane, .carried]) && worker.mayHaveLabel { worker.showPlainName() }
    let roots = traits.contains(.overcommit) ? Self.overcommitRoots : 0
    var frame = gc_frame(previous: nil, queue: rootOfBand[roots + Int(worker.band.rawValue)])
    // SAFETY: the frame is taken off the thread before it leaves the stack.
    withUnsafeMutablePointer(to: &frame) { frame in
      thread.pointee.frame = UnsafeMutableRawPointer(frame)
      node.run(on: thread)
      thread.pointee.frame = nil
    }
  }

  /// Sleeps until woken. Not inlined: this frame in a backtrace says that the worker has nothing to do.
  /// False: nothing came for long, the thread ends.
  @inline(never)
  private func grandCentralWorkerIdle(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    refreshWidth()
    monitor.prepare(self)
    var begin = Clock.monotonicNanoseconds()
    while !Parker.sleep(
      thread, until: .monotonic(nanoseconds: begin + configuration.keepAliveNanoseconds))
    {
      monitor.prepare(self)
      switch retire(worker) {
      // The record is another thread's from here on.
      case .done: return false
      case .needed:
        begin = Clock.monotonicNanoseconds()
        continue
      // Chosen between the time-out and the lock: the grant is on its way.
      case .chosen: _ = Parker.sleep(thread)
      }
      break
    }
    worker.patience.slept(nanoseconds: Clock.monotonicNanoseconds() - begin)
    worker.name.began()
    worker.isSearching = true
    return true
  }

  /// Goes to the idle stack as a searcher that found nothing. False: work came in the last moment.
  func park(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.isSearching = false
    _ = goIdle(worker, thread) { $0.parked() }
    // The worker's half of the pair at the top of this file.
    guard hasWork() else { return true }
    let isBack = idleLock.withLock {
      guard worker.isOnIdleStack else { return false }
      removeFromIdleStack(worker)
      change { $0.unparked() }
      return true
    }
    // Otherwise a submitter has chosen this worker: its grant ends the sleep at once.
    guard isBack else { return true }
    worker.isSearching = true
    worker.status.store(.running, ordering: .relaxed)
    return false
  }

  /// Goes to the idle stack because there are more active workers than the width. What is in its rings
  /// is for others to steal. False: there are not.
  private func stepBack(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    let allowed = allowance.load(ordering: .relaxed) + extraForNext(of: worker)
    guard state.load(ordering: .relaxed).active > allowed,
      goIdle(worker, thread, { $0.steppedBack(width: allowed) })
    else { return false }
    // Active workers are enough, but they may just be parking: as in park().
    if hasWork() { wakeIfNeeded() }
    return true
  }

  /// Counts the worker idle and makes it known as such, in one step for all who take the lock: whoever is
  /// on the stack is counted idle, so a waker that found one in the count finds one on the stack. False:
  /// the transition does not apply any more, and nothing has changed.
  private func goIdle(
    _ worker: Worker, _ thread: ThreadContext, _ transition: (PoolState) -> PoolState?
  ) -> Bool {
    let wasLow = ThreadEffects.isLow(thread)
    // Before anybody can wake it.
    ThreadEffects.rest(thread)
    // The monitor may have taken it for asleep in the last moment.
    if worker.status.exchange(.away, ordering: .relaxed) == .uncounted { change { $0.unblocked() } }
    let isIdle = idleLock.withLock {
      guard changeIfApplicable(transition) else { return false }
      Parker.prepare(thread)
      // The kernel may count what it has had in a low class against it for a while, so it is the last to be woken.
      wasLow ? idleStack.insert(worker, at: 0) : idleStack.append(worker)
      worker.isOnIdleStack = true
      return true
    }
    if isIdle {
      enter(.unspecified, worker)
      worker.showPlainName()
    } else {
      worker.status.store(.running, ordering: .relaxed)
    }
    return isIdle
  }

  /// As change(), for a transition that may not apply. Returns whether it did.
  func changeIfApplicable(_ transition: (PoolState) -> PoolState?) -> Bool {
    var seen = state.load(ordering: .relaxed)
    while let next = transition(seen) {
      let (won, now) = state.weakCompareExchange(
        expected: seen, desired: next, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if won { return true }
      seen = now
    }
    return false
  }

  private func removeFromIdleStack(_ worker: Worker) {
    worker.isOnIdleStack = false
    if let place = idleStack.lastIndex(where: { $0 === worker }) { idleStack.remove(at: place) }
  }

  private enum Retirement {
    case done
    /// A submitter was faster.
    case chosen
    /// The last idle one stays where there is no monitor: see Pool+Shortage.swift.
    case needed
  }

  private func retire(_ worker: Worker) -> Retirement {
    idleLock.withLock {
      guard worker.isOnIdleStack else { return .chosen }
      if idleStack.count == 1 && !monitor.isThere { return .needed }
      removeFromIdleStack(worker)
      change { $0.retired() }
      worker.threadID.store(0, ordering: .relaxed)
      worker.thread = nil
      freeWorkers.append(worker)
      return .done
    }
  }
}

private final class WorkerStart {
  let pool: Pool
  let worker: Worker
  let blocked: UInt64?
  init(pool: Pool, worker: Worker, blocked: UInt64?) {
    self.pool = pool
    self.worker = worker
    self.blocked = blocked
  }
}
