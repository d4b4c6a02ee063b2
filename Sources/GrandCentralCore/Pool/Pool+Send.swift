// Room: Pool/Pool+Send. Passes a particular node to another worker.
//   boost, sendOne   the monitor, or a drain, sends a worker for the oldest node of a class or kind
//   handOffToIdle    a worker hands its node to an idle worker, and looks for another node
//   putBack          a node returns to its injector; retireLowered() then calls Monitor.watch(),
//                    and the monitor scans
//   moveHigherNodes  nodes leave the queues of a worker that does not run them soon

extension Pool {
  // MARK: A worker whose thread is in another class

  enum Preparation { case run, leave, end }

  /// Prepares the thread of a worker that has taken a node of another class.
  @inline(never)
  func prepare(
    for node: WorkNode, _ worker: Worker, _ thread: ThreadContext
  ) -> Preparation {
    let wasLow = ThreadEffects.isLow(thread)
    if worker.band >= .default, wasLow, worker.lowPeriod?.isLong != false,
      handOffToIdle(node, from: worker)
    {
      return .leave
    }
    // relaxed: a guess.
    thread.shared.mayRiseLater =
      worker.hasRunSinceWoken && state.load(ordering: .relaxed).active >= allowance
    guard ThreadEffects.apply(worker.band, on: thread) else {
      return retireLowered(node, by: worker) ? .end : .run
    }
    if !wasLow && ThreadEffects.isLow(thread) { worker.lowPeriod = LowPeriod() }
    return .run
  }

  /// Gives `node` to an idle worker, if there is one. A thread that computed in a low class may
  /// have used more than its share; when it rises, the kernel runs others first until they have had
  /// theirs. That takes milliseconds; waking a thread takes microseconds. One that was low for a
  /// moment, for short items, has used no such share: it rises, which takes less than to wake one.
  private func handOffToIdle(_ node: WorkNode, from worker: Worker) -> Bool {
    let (_, chosen) = choose { $0.forceWoken(maxThreads: 0) }
    guard let chosen else { return false }
    chosen.worker.hand(node, band: worker.band)
    enter(.unspecified, worker)
    rouse(chosen)
    return true
  }

  // MARK: Lower bands

  /// Sends one more worker for the oldest work of that kind and band. The monitor, and a drain
  /// (LaneTurn).
  func boost(_ key: InjectorKey) -> Bool { send(for: key, turn: StarvedTurn(of: key)) }

  /// Sends one more worker for the oldest work of that kind in its highest band. Monitor only.
  /// Returns false if there is no such work, or no thread.
  func sendOne(for kind: WorkKind, maxThreads: Int) -> Bool {
    for band in Band.allCases.reversed() where band != .unspecified {
      let key = InjectorKey(kind: kind, band: band)
      if hasWork(in: key) { return send(for: key, maxThreads: maxThreads) }
    }
    return false
  }

  @discardableResult
  private func send(
    for key: InjectorKey, maxThreads: Int? = nil, turn: StarvedTurn? = nil
  ) -> Bool {
    if isRefused { return false }
    let maxThreads = maxThreads ?? configuration.maxThreads
    var (_, chosen) = choose { $0.forceWoken(maxThreads: maxThreads) }
    let isFinal = state.load(ordering: .relaxed).threads >= configuration.maxThreads
    if chosen == nil && isFinal && key.kind == .lanes { chosen = chooseReserve(allowance: .max) }
    guard let chosen else { return false }
    // If the work is gone, the worker starts searching.
    if let (node, band) = takeOldest(from: key, for: chosen.worker) {
      chosen.worker.hand(node, band: band)
    }
    chosen.worker.starvedTurn = turn
    rouse(chosen)
    return true
  }

  /// Whether an injector or a local queue holds such work. A hint.
  private func hasWork(in key: InjectorKey) -> Bool {
    guard configuration.injectors.contains(key) else { return false }
    if !withInjector(key, { $0.isEmpty }) { return true }
    return (0..<workerCount.load(ordering: .acquiring)).contains {
      worker(at: $0)?.bandInLocalQueue(key.kind) == key.band
    }
  }

  /// Takes the oldest node of `key`. The caller owns the local queues of `worker`, to which
  /// nothing is added: it is that worker, or the worker still sleeps.
  func takeOldest(
    from key: InjectorKey, for worker: Worker
  ) -> (node: WorkNode, band: Band)? {
    guard configuration.injectors.contains(key) else { return nil }
    let localQueue = worker.localQueue(key.kind)
    if let node = withInjector(
      key, { $0.take(atMost: 1, localQueue: localQueue, band: key.band) })
    {
      return (node, key.band)
    }
    unmarkIfEmpty(key)
    for index in 0..<workerCount.load(ordering: .acquiring) {
      guard let full = self.worker(at: index)?.localQueue(key.kind), full.band == key.band
      else { continue }
      if let found = full.takeOldest() { return found }
    }
    return nil
  }

  /// Returns a node to its injector, because the worker that had it cannot run it.
  func putBack(_ node: WorkNode, band: Band) {
    let key = InjectorKey(kind: node.kind, band: band)
    withInjector(key) { $0.push(node) }
    markWaiting(key)
  }

  /// Moves the nodes of a worker's local queues to the injectors, before all others, if workers run
  /// lower classes. A submitter, or another worker between two nodes, does not know the class of
  /// what waits in this worker's queues. So where lower items have the whole allowance, and this
  /// worker's own item does not end, or it is idle, no worker would begin those nodes. The caller
  /// then wakes a worker, as after any submission: a scan may have missed a node on its way. Any
  /// thread.
  func moveHigherNodes(of worker: Worker) {
    for kind in WorkKind.allCases where hasWorkersBelow(worker.bandInLocalQueue(kind)) {
      moveNodes(of: worker.localQueue(kind), kind)
    }
  }

  private func moveNodes(of localQueue: LocalQueue, _ kind: WorkKind) {
    guard let (oldest, band) = localQueue.takeOldest() else { return }
    var (newest, count) = (oldest, 1)
    // Its own thread may add nodes meanwhile, of another class too.
    while count < LocalQueue.capacity, let (node, itsBand) = localQueue.takeOldest() {
      guard itsBand == band else {
        putBack(node, band: itsBand)
        break
      }
      newest.next = node
      newest = node
      count += 1
    }
    let key = InjectorKey(kind: kind, band: band)
    withInjector(key) { $0.putFirst(from: oldest, to: newest, count: count) }
    markWaiting(key)
  }

  /// Ends a worker whose lowered thread cannot be raised (ThreadEffects); another thread runs
  /// `node`. Returns false if there is no monitor to make that thread; the caller then runs the
  /// node as it is.
  func retireLowered(_ node: WorkNode, by worker: Worker) -> Bool {
    guard monitor.isThere else { return false }
    putBack(node, band: worker.band)
    enter(.unspecified, worker)
    setAway(worker)
    idleLock.withLock {
      change { $0.threadEnded() }
      recordIsFree(worker)
    }
    // Not wakeIfNeeded(): a thread made by this thread would be lowered too.
    monitor.watch(self)
    return true
  }
}
