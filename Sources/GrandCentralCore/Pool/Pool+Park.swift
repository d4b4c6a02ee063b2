// Room: Pool/Pool+Park. How workers wake, park, step back and end.
// Sleep/wake protocol, all accesses sequentially consistent:
//   a submitter   publishes the node (tail of a local queue, or inbox and its bit in
//                 `sourcesWaiting`), then reads the state word
//   a worker      leaves `searching` or the active count in the state word, then reads the bits,
//                 the inboxes whose bits are set, and every local queue (hasWork)
// In the single order of these accesses, one of two things holds.
//   - The submitter's read follows the worker's exchange. If another worker searches, the last
//     searcher's scan covers the node. Otherwise the submitter wakes a worker, or the monitor if
//     the pool is saturated.
//   - The worker's read follows the publication. A worker that parks unparks itself; one that stops
//     searching or leaves the active count otherwise calls wakeIfNeeded().
// A submitter that finds the bit set leaves it. So a thread that clears a bit then looks at the
// injector, and if a node is there it sets the bit and wakes a worker, as the submitter would.
// Two exits need no scan of their own. retireLowered() puts a node back and calls Monitor.watch():
// the monitor scans. Monitor.mark() runs on the monitor, which is awake and scans before it rests.
// A weaker order loses wake-ups: on each side the store and the load are to different words, and
// the hardware may swap them.
// The worker can still miss work that moves during its scan, out of a queue that it has not yet
// read into one that it has read. Only searchers move more than they take, and the last searcher
// that stops scans again (stopSearching). Either the scanning worker had left `searching` by then,
// and the last searcher's scan wakes a worker; or its own exchange comes later in the state word,
// and it sees everything that was moved before.
// Submitters have at most one wake-up in flight: a woken worker counts as searching from the moment
// it is chosen, and submitters wake no worker while one searches. Two ignore this: the monitor
// when it sends a worker (forceWoken), and handOffToIdle(). The last searcher to find work wakes
// the next worker if there is more work.
// After rayon's and tokio's sleep protocols.
import CGrandCentralLinux

extension Pool {
  /// Wakes or starts a worker for published work, if one more helps. Never blocks for long.
  func wakeIfNeeded() {
    // sequentiallyConsistent: the submitter's half of the pair above.
    wakeIfNeeded(seeing: state.load(ordering: .sequentiallyConsistent))
  }

  /// As above. `seen`: the state, loaded after the publication.
  func wakeIfNeeded(seeing seen: PoolState) {
    if seen.searching > 0 { return }
    var allowed = allowance
    if seen.idle == 0 && seen.active < allowed && configuration.readMask != nil {
      // A thread will be made: read the affinity mask first.
      followMask()
      allowed = allowance
    }
    if seen.active < allowed { return wake(allowance: allowed, extra: 0) }
    let extra = extraForUrgent()
    if seen.active >= allowed + extra { return monitor.watch(self) }
    wake(allowance: allowed, extra: extra)
  }

  /// Wakes an idle worker and passes it `node`, if `wakeIfNeeded()` would wake a worker for it. The
  /// worker need not search for the node, which saves about six cold cache lines. Only for threads
  /// outside the pool: a worker finds its own work soonest in its local queue.
  func submitToIdle(_ node: WorkNode, _ source: InjectorKey) -> Bool {
    var allowed = allowance
    // relaxed: a guess; the exchange below decides.
    let seen = state.load(ordering: .relaxed)
    guard seen.searching == 0, seen.idle > 0 else { return false }
    var overcommits = false
    if seen.active >= allowed {
      allowed += extra(for: source.band)
      // Overdue workers keep their CPUs; the kernel shares them with this one.
      overcommits = source.kind == .lanes && lanesOvercommit.load(ordering: .relaxed)
      guard seen.active < allowed || overcommits else { return false }
    }
    idleLock.lock()
    let isChosen = changeIfApplicable { state in
      // An idle worker needs no new thread, so the thread limit does not matter.
      let (next, action) =
        overcommits && state.searching == 0
        ? state.forceWoken(maxThreads: 0) : state.woken(allowance: allowed, maxThreads: 0)
      return action == .wakeIdle ? next : nil
    }
    guard isChosen else {
      idleLock.unlock()
      return false
    }
    let chosen = idleStack.pop()
    chosen.isOnIdleStack = false
    idleLock.unlock()
    chosen.hand(node, band: source.band)
    // SAFETY of unsafelyUnwrapped: `thread` is set before a worker is first idle.
    Parker.grant(chosen.thread.unsafelyUnwrapped)
    return true
  }

  /// `extra`: active workers and threads beyond the general limits, see Pool+Classes.
  private func wake(allowance allowed: Int, extra: Int) {
    let maxThreads = min(configuration.maxThreads, threadAllowance + extra)
    let (action, chosen) = choose {
      $0.woken(allowance: allowed + extra, maxThreads: isRefused ? 0 : maxThreads)
    }
    if action == .saturated { return monitor.watch(self) }
    if let chosen { rouse(chosen) }
  }

  /// Applies `decide` to the state, and takes an idle worker or a record for a new thread.
  func choose(
    _ decide: (PoolState) -> (PoolState, PoolState.WakeAction)
  ) -> (PoolState.WakeAction, (worker: Worker, isNew: Bool)?) {
    idleLock.withLock {
      var action = PoolState.WakeAction.nothing
      // sequentiallyConsistent: as in change().
      let isChosen = state.transition(.sequentiallyConsistent) { seen -> PoolState? in
        let (next, decided) = decide(seen)
        action = decided
        return decided == .wakeIdle || decided == .spawn ? next : nil
      }
      guard isChosen else { return (action, nil) }
      if action == .spawn { return (action, (freeWorkers.popLast() ?? makeWorker(), true)) }
      let chosen = idleStack.pop()
      chosen.isOnIdleStack = false
      return (action, (chosen, false))
    }
  }

  /// Starts the thread of a chosen worker, or ends its sleep.
  func rouse(_ chosen: (worker: Worker, isNew: Bool)) {
    if chosen.isNew {
      start(chosen.worker)
    } else if let thread = chosen.worker.thread {
      Parker.grant(thread)
    }
  }

  /// Makes a worker record. Requires the idle lock.
  func makeWorker(externalWorker: String? = nil) -> Worker {
    let index = workerCount.load(ordering: .relaxed)
    invariant(
      index < configuration.maxThreads + Self.maxExternalWorkers,
      "There are \(index) workers already.")
    let worker = Worker(index: index, pool: self, externalWorker: externalWorker)
    workers[index] = Unmanaged.passRetained(worker)
    // releasing: pairs with the acquiring loads of the threads that iterate over the workers.
    // sequentiallyConsistent: a worker that checks for work before it parks must not miss the local
    // queues of a new worker.
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

  /// Starts the workers whose submitters would make lowered threads. Monitor only.
  func startWaitingWorkers() {
    while let worker = idleLock.withLock({ workersToStart.popLast() }) { makeThread(for: worker) }
  }

  var hasWorkersToStart: Bool { idleLock.withLock { !workersToStart.isEmpty } }

  private func makeThread(for worker: Worker) {
    BlackBox.open()
    let start = Unmanaged.passRetained(WorkerStart(pool: self, worker: worker))
    let error = spawn(
      { argument in
        // SAFETY: the pair passed below, owned by this thread.
        let start = Unmanaged<WorkerStart>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        start.pool.runWorker(start.worker)
        return nil
      }, start.toOpaque(), stackBytes: 0)
    if error == 0 { return }
    start.release()
    if let (node, band) = worker.takeHanded() { putBack(node, band: band) }
    idleLock.withLock { freeWorkers.append(worker) }
    change { $0.spawnFailed() }
    // Submitters saw a searcher that never arrived; the monitor checks for the work of all of them.
    monitor.watch(self, isUrgent: true)
    reportRefusal(error)
  }

  // MARK: A worker's life

  func runWorker(_ worker: Worker) {
    let thread = currentThread()
    takeFirstSteps(of: thread) {
      nameThread(worker.plainName)
      worker.name.began(at: Clock.coarseNanoseconds())
      if configuration.hasEffects { ThreadEffects.adopt(thread, isReplaceable: true) }
      worker.thread = thread
      worker.threadID.store(thread.pointee.tid, ordering: .relaxed)
      thread.pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
      worker.isSearching = true
      worker.promptTurns = PromptTurns()
      BlackBox.noteWorker(thread)
    }
    while runUntilIdle(worker, thread) && grandCentralWorkerIdle(worker, thread) {}
    thread.pointee.worker = nil
    ThreadEffects.leave(thread)
  }

  /// Runs nodes until there are none. Returns false if the thread must end.
  private func runUntilIdle(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.status.store(.running, ordering: .releasing)
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
        let allowed = allowance
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

  /// Runs one node. Not inlined: this frame in a backtrace shows that the worker is active.
  @inline(never)
  func grandCentralWorkerActive(
    _ node: WorkNode, _ worker: Worker, _ thread: ThreadContext
  ) {
    let traits = node.traits
    thread.pointee.qos = traits.qos.rawValue
    EffectivePriority.apply(worker.band, on: thread)
    let isInLane = node.kind == .lanes
    if worker.isInLane.load(ordering: .relaxed) != isInLane {
      worker.isInLane.store(isInLane, ordering: .relaxed)
    }
    // For an item of a global queue, a label that the thread still carries is another queue's.
    if traits.isDisjoint(with: [.lane, .carried]) && worker.mayHaveLabel { worker.showPlainName() }
    if traits.isDisjoint(with: [.lane, .carried]) { BlackBox.noteNoQueue(on: thread) }
    let roots = traits.contains(.overcommit) ? Self.overcommitRoots : 0
    let root = rootOfBand[roots + Int(worker.band.rawValue)]
    let outer = thread.enterFrame(of: root)
    node.runItem(of: root, on: thread)
    thread.leaveFrame(to: outer)
  }

  /// Sleeps until woken. Not inlined: this frame in a backtrace shows that the worker is idle.
  /// Returns false if no work came within the keep-alive time; the thread then ends.
  @inline(never)
  private func grandCentralWorkerIdle(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    var begin = Clock.monotonicNanoseconds()
    refreshWidth(at: begin, maskNanoseconds: Self.idleMaskNanoseconds)
    if !thread.pointee.is_main { monitor.prepare(self) }
    BlackBox.noteIdle(thread)
    while !Parker.sleep(thread, until: .monotonic(nanoseconds: begin + longestSleep(of: worker))) {
      if worker.name.isKept {
        worker.showPlainName()
        continue
      }
      if !thread.pointee.is_main { monitor.prepare(self) }
      switch retire(worker, thread) {
      // From here on another thread may own the record.
      case .done: return false
      case .needed:
        begin = Clock.monotonicNanoseconds()
        continue
      // A submitter chose the worker between the timeout and the lock: the grant is on its way.
      case .chosen: _ = Parker.sleep(thread)
      }
      break
    }
    worker.slept(
      nanoseconds: Clock.monotonicNanoseconds() - begin, until: Clock.coarseNanoseconds())
    worker.isSearching = true
    BlackBox.noteAwake(thread)
    return true
  }

  /// How long an idle worker sleeps before it must do something.
  private func longestSleep(of worker: Worker) -> UInt64 {
    let keepAlive = configuration.keepAliveNanoseconds
    return worker.name.isKept ? min(WorkerName.stayNanoseconds, keepAlive) : keepAlive
  }

  /// Puts a searcher that found nothing on the idle stack. Returns false if work came meanwhile.
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
    // Otherwise a submitter has chosen this worker, and its grant ends the sleep at once.
    guard isBack else { return true }
    worker.isSearching = true
    worker.status.store(.running, ordering: .releasing)
    return false
  }

  /// Puts a worker on the idle stack if more workers are active than allowed; false if not. Other
  /// workers steal the nodes in its local queues.
  private func stepBack(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    let allowed = allowance + extraForNext(of: worker)
    guard state.load(ordering: .relaxed).active > allowed,
      goIdle(worker, thread, { $0.steppedBack(allowance: allowed) })
    else { return false }
    // The other active workers suffice, but they may be parking at this moment: as in park().
    if hasWork() { wakeIfNeeded() }
    return true
  }

  /// Counts the worker as idle and pushes it on the idle stack, in one critical section. Every
  /// worker on the stack is counted idle, so a waker that sees an idle count finds a worker on the
  /// stack. Returns false, and changes nothing, if the transition no longer applies.
  private func goIdle(
    _ worker: Worker, _ thread: ThreadContext, _ transition: (PoolState) -> PoolState?
  ) -> Bool {
    let wasLow = worker.wasLow || ThreadEffects.isLow(thread)
    worker.wasLow = false
    // Before another thread can wake it.
    ThreadEffects.rest(thread)
    if configuration.hasEffects, worker.endsTurn(at: Clock.coarseNanoseconds()) {
      ThreadEffects.setPrompt(worker.promptTurns.isPrompt, on: thread)
    }
    setAway(worker)
    let isIdle = idleLock.withLock {
      guard changeIfApplicable(transition) else { return false }
      Parker.prepare(thread)
      // The kernel may still charge it for CPU time used in a low class, so it is woken last.
      if wasLow { idleStack.insertLast(worker) } else { idleStack.push(worker) }
      worker.isOnIdleStack = true
      return true
    }
    if isIdle {
      enter(.unspecified, worker)
      worker.restName()
    } else {
      worker.status.store(.running, ordering: .releasing)
    }
    return isIdle
  }

  /// Applies a transition that may not apply, as change() does. Returns whether it applied.
  func changeIfApplicable(_ transition: (PoolState) -> PoolState?) -> Bool {
    // sequentiallyConsistent: as in change().
    state.transition(.sequentiallyConsistent, to: transition)
  }

  private func removeFromIdleStack(_ worker: Worker) {
    worker.isOnIdleStack = false
    idleStack.remove(worker)
  }

  private enum Retirement {
    case done
    /// A submitter took the worker off the stack first.
    case chosen
    /// The last idle worker stays while there is no monitor, or no poller: see
    /// Pool+Shortage.swift.
    case needed
  }

  /// A worker that is the main thread, in a forked child, makes no monitor and always ends: if it
  /// is the child's last thread, so does the child.
  private func retire(_ worker: Worker, _ thread: ThreadContext) -> Retirement {
    idleLock.withLock {
      guard worker.isOnIdleStack else { return .chosen }
      let needsMonitor = !monitor.isThere && !thread.pointee.is_main
      if idleStack.count == 1 && (needsMonitor || ThreadlessRetry.hasRetriers) { return .needed }
      removeFromIdleStack(worker)
      change { $0.retired() }
      worker.threadID.store(0, ordering: .relaxed)
      worker.thread = nil
      freeWorkers.append(worker)
      return .done
    }
  }
}
