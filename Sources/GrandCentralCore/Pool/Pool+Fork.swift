// Room: Pool/Pool+Fork. The pool in a child that was forked: no thread but perhaps the one that forked, and no work.
// What was submitted is the parent's, which runs it; so nodes are dropped as they are. Their closures stay in memory:
// to destroy them would be to run deinits that the parent is to run.

extension Pool {
  /// In the child, by its only thread, which holds no lock.
  func afterFork(on thread: ThreadContext) {
    for index in 0..<Source.count where configuration.sources >> UInt32(index) & 1 != 0 {
      withInjector(at: index) { $0.clear() }
    }
    sourcesWaiting.store(0, ordering: .relaxed)
    idleStack.removeAll(keepingCapacity: true)
    freeWorkers.removeAll(keepingCapacity: true)
    workersToStart.removeAll(keepingCapacity: true)
    // SAFETY: as in Blocking.announced().
    let own = thread.pointee.worker.map {
      Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue()
    }
    for index in 0..<workerCount.load(ordering: .relaxed) {
      guard let worker = worker(at: index) else { continue }
      worker.afterFork(isHere: worker === own)
      if worker !== own && !worker.isGuest { freeWorkers.append(worker) }
    }
    let isWorker = own?.pool === self
    state.store(
      .afterFork(isWorker: isWorker, isSearching: isWorker && own?.isSearching == true),
      ordering: .relaxed)
    bandUse.store(0, ordering: .relaxed)
    if isWorker, let own {
      let band = own.band
      own.band = .unspecified
      enter(band, own)
    }
    allowance.store(width.load(ordering: .relaxed), ordering: .relaxed)
    lanesBeyond.store(0, ordering: .relaxed)
    lanesOvercommit.store(false, ordering: .relaxed)
    threadAllowance.store(firstThreads.load(ordering: .relaxed), ordering: .relaxed)
    refusedUntil.store(0, ordering: .relaxed)
    monitor.afterFork()
  }
}
