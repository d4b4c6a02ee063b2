// Room: Pool/Pool+Classes. How many workers there may be for which class.
// The allowance says how many may be active, and work of one class keeps to it. But work must not wait until items of a
// lower class come to an end: so for a class only those workers count that are at work in it or above. While others are
// at work below, as many more are let in (extraForUrgent); the lower ones step back at the ends of their items, and
// until then the kernel lets the higher ones go first (QoS/ClassEffects). So
//   work of a class finds a thread at once, unless as many as the allowance work in that class or above
//   at most five times the allowance are active, each class beside all lower ones, and for one item each
// What a lower class may do to a higher one is bounded so: items that have begun, the allowance of them at most, compete
// with it for the CPUs, on the kernel's terms.
// What a higher class may do to a lower one is bounded so: when work of a class waits of which no item runs, while items
// above it do, for `starvedRounds` looks of the monitor, one a millisecond, it is given a worker beyond all others, for
// one item (relieve). So ten times a second a class goes on by an item at least, however much there is above it. Besides,
// workers take what waits in turn now and then (Pool+Take), by which the order of classes gives way where items are
// short: a class gets an item out of some twelve hundred, of each worker.
// All of this reads hints. A worker too many or too few for the length of an item is all that comes of a stale one.

extension Pool {
  /// Looks at which a class has had work, and nobody working, before it gets a worker of its own: a tenth of a second,
  /// in which a user notices nothing, and for which work below default does not mind to wait.
  static var starvedRounds: Int { 100 }

  /// Workers that there may be beyond the allowance, on behalf of the most urgent work that waits outside the rings.
  func extraForUrgent() -> Int {
    // Mostly all are of one class, and there is nothing to count.
    extra(for: mostUrgentWaiting())
  }

  func extra(for band: Band) -> Int { hasWorkersBelow(band) ? runningBelow(band) : 0 }

  /// The same for a worker between two items, and what it would take next.
  func extraForNext(of worker: Worker) -> Int {
    let own = max(worker.bandInRing(.items), worker.bandInRing(.lanes))
    let next = max(own, mostUrgentWaiting())
    guard hasWorkersBelow(next) else { return 0 }
    return runningBelow(next, except: worker)
  }

  private func mostUrgentWaiting() -> Band {
    let waiting = sourcesWaiting.load(ordering: .relaxed)
    // One bit per band, whichever kind.
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

  /// The worker has taken `node`, and its thread is not in that class.
  @inline(never)
  func prepare(
    for node: WorkNode, _ worker: Worker, _ thread: ThreadContext
  ) -> Preparation {
    if worker.band >= .default, ThreadEffects.isLow(thread), handUp(node, from: worker) {
      return .leave
    }
    if ThreadEffects.apply(worker.band, on: thread) { return .run }
    return surrender(node, by: worker) ? .end : .run
  }

  /// Gives `node` to an idle worker, if there is one: a thread that has computed in a low class may have had more than
  /// its share, and as it rises the kernel lets others go first until they have had theirs. That takes milliseconds,
  /// and waking a thread microseconds.
  private func handUp(_ node: WorkNode, from worker: Worker) -> Bool {
    let (_, chosen) = choose { $0.calledUp(mostThreads: 0) }
    guard let chosen else { return false }
    chosen.worker.hand(node, band: worker.band)
    enter(.unspecified, worker)
    send(chosen)
    return true
  }

  // MARK: Those below

  /// One more worker, for the oldest work of `band`. By the monitor.
  func relieve(_ band: Band) {
    let items = Source(kind: .items, band: band)
    send(for: hasWork(in: items) ? items : Source(kind: .lanes, band: band))
  }

  /// One more worker, for the oldest work of that kind and the highest band that has any. By the
  /// monitor. False: there is none, or no thread.
  func sendOne(for kind: WorkKind, mostThreads: Int) -> Bool {
    for band in Band.allCases.reversed() where band != .unspecified {
      let source = Source(kind: kind, band: band)
      if hasWork(in: source) { return send(for: source, mostThreads: mostThreads) }
    }
    return false
  }

  @discardableResult
  private func send(for source: Source, mostThreads: Int? = nil) -> Bool {
    if isRefused { return false }
    let mostThreads = mostThreads ?? configuration.mostThreads
    let (_, chosen) = choose { $0.calledUp(mostThreads: mostThreads) }
    guard let chosen else { return false }
    // If the work is gone meanwhile, the worker starts to search.
    if let (node, band) = takeOldest(from: source, for: chosen.worker) {
      chosen.worker.hand(node, band: band)
    }
    send(chosen)
    return true
  }

  /// A hint.
  private func hasWork(in source: Source) -> Bool {
    guard configuration.sources & source.bit != 0 else { return false }
    if !withInjector(source, { $0.isEmpty }) { return true }
    return (0..<workerCount.load(ordering: .acquiring)).contains {
      worker(at: $0)?.bandInRing(source.kind) == source.band
    }
  }

  /// `worker` has not been woken yet, so its rings are the caller's; nothing comes to be in them.
  private func takeOldest(
    from source: Source, for worker: Worker
  ) -> (node: WorkNode, band: Band)? {
    guard configuration.sources & source.bit != 0 else { return nil }
    let ring = worker.ring(source.kind)
    if let node = withInjector(source, { $0.take(atMost: 1, ring: ring, band: source.band) }) {
      return (node, source.band)
    }
    unmarkIfEmpty(source)
    for index in 0..<workerCount.load(ordering: .acquiring) {
      guard let full = self.worker(at: index)?.ring(source.kind), full.band == source.band
      else { continue }
      if let found = full.takeOldest() { return found }
    }
    return nil
  }

  /// A node that had been given to somebody who cannot run it.
  func putBack(_ node: WorkNode, band: Band) {
    let source = Source(kind: node.kind, band: band)
    withInjector(source) { $0.push(node) }
    markWaiting(source)
  }

  /// The calling worker's thread is lowered, and cannot be raised (ThreadEffects): somebody else has to run `node`, on a
  /// thread that another has made. False: there is nobody to make it, and the node is run as it can be.
  func surrender(_ node: WorkNode, by worker: Worker) -> Bool {
    guard monitor.isThere else { return false }
    putBack(node, band: worker.band)
    enter(.unspecified, worker)
    if worker.status.exchange(.away, ordering: .relaxed) == .uncounted { change { $0.unblocked() } }
    idleLock.withLock {
      change { $0.surrendered() }
      worker.threadID.store(0, ordering: .relaxed)
      worker.thread = nil
      freeWorkers.append(worker)
    }
    // Not wakeIfNeeded(): who made a thread here would make another that is lowered.
    monitor.watch(self)
    return true
  }
}
