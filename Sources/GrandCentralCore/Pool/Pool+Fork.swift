// Room: Pool/Pool+Fork. The pool in a forked child: no work, and at most the thread that forked.
// Submitted work belongs to the parent, which runs it, so the child drops the nodes. It leaks their
// closures: to destroy them would run deinits that the parent will run.
import CGrandCentralLinux

extension Pool: ForkParticipant {
  func afterFork() {
    let thread = currentThread()
    gc_gave_way(thread)
    for index in configuration.injectors.indices {
      withInjector(at: index) { $0.clear() }
    }
    injectorHints.store(0, ordering: .relaxed)
    idleStack.removeAll()
    freeWorkers.removeAll(keepingCapacity: true)
    workersToStart.removeAll(keepingCapacity: true)
    laneReserve = LaneReserve()
    // SAFETY: as in Blocking.announced().
    let own = thread.pointee.worker.map {
      Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue()
    }
    for index in 0..<workerCount.load(ordering: .relaxed) {
      guard let worker = worker(at: index) else { continue }
      worker.afterFork(isHere: worker === own)
      if worker !== own && !worker.isExternal { freeWorkers.append(worker) }
    }
    let isWorker = own?.pool === self
    if isWorker { ThreadEffects.lowerNow(thread) }
    state.store(
      .afterFork(isWorker: isWorker, isSearching: isWorker && own?.isSearching == true),
      ordering: .relaxed)
    bandUse.store(0, ordering: .relaxed)
    if isWorker, let own {
      let band = own.band
      own.band = .unspecified
      enter(band, own)
    }
    beyondWidth.store(0, ordering: .relaxed)
    lanesBeyond.store(0, ordering: .relaxed)
    lanesOvercommit.store(false, ordering: .relaxed)
    restingLanes.store(0, ordering: .relaxed)
    lanesBehindOthers.store(0, ordering: .relaxed)
    itemsBehindLanes.store(false, ordering: .relaxed)
    raisedThreads.store(0, ordering: .relaxed)
    refusedUntil.store(0, ordering: .relaxed)
    monitor.afterFork()
  }

  /// Runs `steps`, the first steps of a thread of the engine, while no fork can happen.
  @inline(__always)
  func takeFirstSteps(of thread: ThreadContext, _ steps: () -> Void) {
    ForkGate.inside(thread, steps)
  }
}

extension Worker {
  /// `isHere`: the worker's thread forked, inside an item.
  fileprivate func afterFork(isHere: Bool) {
    items.clear()
    lanes.clear()
    (handed, starvedTurn) = (nil, nil)
    isOnIdleStack = false
    isInReserve = false
    status.store(isHere ? .running : .away, ordering: .relaxed)
    threadID.store(isHere ? thread?.pointee.tid ?? 0 : 0, ordering: .relaxed)
    if isHere { return }
    isNamedByMonitor.store(false, ordering: .relaxed)
    name = WorkerName()
    thread = nil
    band = .unspecified
    visibleBand.store(0, ordering: .relaxed)
    isSearching = false
  }
}

extension Monitor {
  /// The child does not have the monitor's thread.
  fileprivate func afterFork() {
    quietRounds = 0
    looks = Looks()
    restingLanes = RestingLanes()
    lanesBehindOthers = LanesBehindOthers()
    itemsBehindLanes = ItemsBehindLanes()
    nextPreparation.store(0, ordering: .relaxed)
    mode.store(.absent, ordering: .relaxed)
  }
}

extension PoolState {
  /// The state in a forked child: its only thread is an active worker, or no worker.
  static func afterFork(isWorker: Bool, isSearching: Bool) -> PoolState {
    if !isWorker { return PoolState(rawValue: 0) }
    return PoolState(rawValue: oneActive + oneThread + (isSearching ? oneSearching : 0))
  }
}

extension LocalQueue {
  /// Drops all nodes.
  func clear() {
    words.pointee.head.store(words.pointee.tail.load(ordering: .relaxed), ordering: .relaxed)
  }
}

extension Injector {
  /// Drops all nodes.
  func clear() {
    for number in 0...further.count { withInbox(number) { $0.store(.empty, ordering: .relaxed) } }
    forgetNodes()
  }
}
