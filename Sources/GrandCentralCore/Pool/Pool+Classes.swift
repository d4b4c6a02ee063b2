// Room: Pool/Pool+Classes. How many workers may run for each class.
// Work of one class keeps to the allowance, the number of active workers. But it must not wait for
// items of a lower class to end, so only the workers in its own class or above count for it. While
// workers run below it, as many more are admitted (extraForUrgent). The lower ones step back when
// their items end; until then the kernel prefers the higher ones (QoS/ClassEffects). Therefore:
//   - work of a class gets a thread at once, unless the allowance is in use in that class or above
//   - at most five allowances are active: each class beside all lower ones, for one item each
// The effect of a lower class on a higher one is bounded: at most the allowance of started items
// compete with it for the CPUs, by the kernel's rules.
// The effect of a higher class on a lower one is bounded too. If work of a class waits and none of
// it runs, while items above it do, for `starvedRounds` looks of the monitor (one a millisecond),
// it gets one extra worker for one item (boostStarved). So each class starts at least ten items a
// second. Besides, workers now and then take waiting work in turn (Pool+Take), regardless of class:
// a class gets about one of 1,200 picks of each worker.
// All inputs are hints. A stale one costs a worker too many or too few for one item.

extension Pool {
  /// Looks in a row at which a class has work and no worker before it gets its own worker. 100 ms:
  /// a user does not notice it, and work below default can wait that long.
  static var starvedRounds: Int { 100 }

  /// The workers admitted beyond the allowance for the most urgent work in the injectors.
  func extraForUrgent() -> Int {
    // Usually all work is of one class, and there is nothing to count.
    extra(for: mostUrgentWaiting())
  }

  func extra(for band: Band) -> Int { hasWorkersBelow(band) ? runningBelow(band) : 0 }

  /// The same for a worker between two items, and the work that it would take next.
  func extraForNext(of worker: Worker) -> Int {
    let own = max(worker.bandInLocalQueue(.items), worker.bandInLocalQueue(.lanes))
    let next = max(own, mostUrgentWaiting())
    guard hasWorkersBelow(next) else { return 0 }
    return runningBelow(next, except: worker)
  }

  private func mostUrgentWaiting() -> Band {
    let waiting = sourcesWaiting.load(ordering: .relaxed)
    // One bit for each band, either kind.
    let bands = UInt8(truncatingIfNeeded: waiting | waiting >> 8)
    return bands == 0
      ? .unspecified : Band(rawValue: UInt8(7 - bands.leadingZeroBitCount)) ?? .unspecified
  }

  private func runningBelow(_ band: Band, except self: Worker? = nil) -> Int {
    var count = 0
    for index in 0..<workerCount.load(ordering: .acquiring) {
      guard let worker = worker(at: index), worker !== self,
        worker.status.load(ordering: .relaxed) == .running
      else { continue }
      let its = worker.visibleBand.load(ordering: .relaxed)
      if its != 0 && its < band.rawValue { count += 1 }
    }
    return count
  }

  // MARK: A worker whose thread is in another class

  enum Preparation { case run, leave, end }

  /// Prepares the thread of a worker that has taken a node of another class.
  @inline(never)
  func prepare(
    for node: WorkNode, _ worker: Worker, _ thread: ThreadContext
  ) -> Preparation {
    if worker.band >= .default, ThreadEffects.isLow(thread), handOffToIdle(node, from: worker) {
      return .leave
    }
    if ThreadEffects.apply(worker.band, on: thread) { return .run }
    return retireLowered(node, by: worker) ? .end : .run
  }

  /// Gives `node` to an idle worker, if there is one. A thread that computed in a low class may
  /// have used more than its share; when it rises, the kernel runs others first until they have had
  /// theirs. That takes milliseconds; waking a thread takes microseconds.
  private func handOffToIdle(_ node: WorkNode, from worker: Worker) -> Bool {
    let (_, chosen) = choose { $0.forceWoken(maxThreads: 0) }
    guard let chosen else { return false }
    chosen.worker.hand(node, band: worker.band)
    enter(.unspecified, worker)
    send(chosen)
    return true
  }

  // MARK: Lower bands

  /// Sends one more worker for the oldest work of `band`. Monitor only.
  func boost(_ band: Band) {
    let items = InjectorKey(kind: .items, band: band)
    send(for: hasWork(in: items) ? items : InjectorKey(kind: .lanes, band: band))
  }

  /// Sends one more worker for the oldest work of that kind in its highest band. Monitor only.
  /// Returns false if there is no such work, or no thread.
  func sendOne(for kind: WorkKind, maxThreads: Int) -> Bool {
    for band in Band.allCases.reversed() where band != .unspecified {
      let source = InjectorKey(kind: kind, band: band)
      if hasWork(in: source) { return send(for: source, maxThreads: maxThreads) }
    }
    return false
  }

  @discardableResult
  private func send(for source: InjectorKey, maxThreads: Int? = nil) -> Bool {
    if isRefused { return false }
    let maxThreads = maxThreads ?? configuration.maxThreads
    let (_, chosen) = choose { $0.forceWoken(maxThreads: maxThreads) }
    guard let chosen else { return false }
    // If the work is gone, the worker starts searching.
    if let (node, band) = takeOldest(from: source, for: chosen.worker) {
      chosen.worker.hand(node, band: band)
    }
    send(chosen)
    return true
  }

  /// Whether an injector or a local queue holds such work. A hint.
  private func hasWork(in source: InjectorKey) -> Bool {
    guard configuration.sources & source.bit != 0 else { return false }
    if !withInjector(source, { $0.isEmpty }) { return true }
    return (0..<workerCount.load(ordering: .acquiring)).contains {
      worker(at: $0)?.bandInLocalQueue(source.kind) == source.band
    }
  }

  /// Takes the oldest node of `source`. `worker` still sleeps, so the caller owns its local queues,
  /// which stay empty.
  private func takeOldest(
    from source: InjectorKey, for worker: Worker
  ) -> (node: WorkNode, band: Band)? {
    guard configuration.sources & source.bit != 0 else { return nil }
    let localQueue = worker.localQueue(source.kind)
    if let node = withInjector(
      source, { $0.take(atMost: 1, localQueue: localQueue, band: source.band) })
    {
      return (node, source.band)
    }
    unmarkIfEmpty(source)
    for index in 0..<workerCount.load(ordering: .acquiring) {
      guard let full = self.worker(at: index)?.localQueue(source.kind), full.band == source.band
      else { continue }
      if let found = full.takeOldest() { return found }
    }
    return nil
  }

  /// Returns a node to its injector, because the worker that had it cannot run it.
  func putBack(_ node: WorkNode, band: Band) {
    let source = InjectorKey(kind: node.kind, band: band)
    withInjector(source) { $0.push(node) }
    markWaiting(source)
  }

  /// Ends a worker whose lowered thread cannot be raised (ThreadEffects); another thread runs
  /// `node`. Returns false if there is no monitor to make that thread; the caller then runs the
  /// node as it is.
  func retireLowered(_ node: WorkNode, by worker: Worker) -> Bool {
    guard monitor.isThere else { return false }
    putBack(node, band: worker.band)
    enter(.unspecified, worker)
    if worker.status.exchange(.away, ordering: .relaxed) == .uncounted { change { $0.unblocked() } }
    idleLock.withLock {
      change { $0.retiredLowered() }
      worker.threadID.store(0, ordering: .relaxed)
      worker.thread = nil
      freeWorkers.append(worker)
    }
    // Not wakeIfNeeded(): a thread made by this thread would be lowered too.
    monitor.watch(self)
    return true
  }
}
