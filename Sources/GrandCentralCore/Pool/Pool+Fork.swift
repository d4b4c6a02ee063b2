// Room: Pool/Pool+Fork. The pool in a forked child: no work, and at most the thread that forked.
// Submitted work belongs to the parent, which runs it, so the child drops the nodes. It leaks their
// closures: to destroy them would run deinits that the parent will run.

extension Pool {
  /// Resets the pool. In the child, by its only thread, which holds no lock.
  func afterFork(on thread: ThreadContext) {
    for index in 0..<InjectorKey.count where configuration.sources >> UInt32(index) & 1 != 0 {
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
      if worker !== own && !worker.isExternal { freeWorkers.append(worker) }
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
