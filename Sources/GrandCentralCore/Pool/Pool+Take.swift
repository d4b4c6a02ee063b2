// Room: Pool/Pool+Take. Where a worker finds its next node. The two kinds of work alternate
// (WorkKind); within that, a worker looks in this order:
//   1. at every 61st pick, an injector or a local queue in turn, also under stress: no node starves
//   2. the injector of a higher band, so that urgent work overtakes
//   3. once in a pass through its own queues, or less often if they are long, an injector of their
//      band (InjectorTurn)
//   4. its own local queues
//   5. as a searcher, the oldest nodes of another worker's queue, or of an injector, up to a chunk
//      (ChunkSize), higher bands first
// Local queues come before injectors of the same band: a worker that sleeps may be waiting for work
// that it submitted earlier.
// A thread in a lowered class does not search. It may wait long for a CPU, and while it counted as
// a searcher, submitters of urgent work would wake no other worker. It takes one node where a
// searcher would move many, but for its turns at an injector (InjectorTurn). If it finds none, it
// leaves the class, searches, and then sleeps.

extension Pool {
  /// Picks between two turns of `takeInTurn()`. A prime, so that it does not beat with the powers
  /// of two that are common in programs.
  private static var turnPeriod: UInt32 { 61 }
  /// How often a thief checks a single node before it takes it; one check takes about 25 ns.
  private static var looksAtSingle: Int { scaled(60, inModels: 0) }
  /// The number of workers that a searcher looks at before it sleeps, each several times if there
  /// are few. Looks at many workers cost more than the sleep.
  private static var looksInSearch: Int { 64 }

  /// Returns the worker's next node; `nil` if it should park, or step back if more workers are
  /// active than allowed.
  @inline(__always)
  func takeNext(for worker: Worker) -> WorkNode? {
    if worker.deferredWake.isPending {
      worker.deferredWake.itemEnded(at: Clock.monotonicNanoseconds())
    }
    if worker.turnOfItems != 0, let node = takeItemInTurn(for: worker) { return node }
    let beyond = beyondAllowance
    return beyond > 0 ? take(beyond: beyond, for: worker) : take(for: worker)
  }

  /// Returns the next node of a worker that the allowance covers; `nil` if it finds none.
  func take(for worker: Worker) -> WorkNode? {
    let pick = nextPick(of: worker)
    let first = WorkKind.first(atPick: pick)
    let hints = hints
    if pick % Self.turnPeriod == 0, let node = takeInTurn(pick / Self.turnPeriod, for: worker) {
      // If the node lasts, the monitor moves those of the worker's own queue.
      if worker.bandInLocalQueues > worker.band { monitor.watch(self) }
      return node
    }
    if isStressed { return takeUnderStress(hints, atPick: pick, for: worker) }
    return takeQueued(hints, first: first, for: worker) ?? search(first: first, for: worker)
  }

  /// First what is above the worker's own nodes and its last one, then its own lanes, then all
  /// visible lanes of others, and only then an item, but at every fourth pick.
  @inline(never)
  private func takeUnderStress(
    _ hints: InjectorHints, atPick pick: UInt32, for worker: Worker
  ) -> WorkNode? {
    if WorkKind.firstUnderStress(atPick: pick) == .items,
      let node = takeBesideLanes(for: worker, isBeyond: false)
    {
      return node
    }
    let waiting = hints.waiting
    // Above its last node, too, which may have given way.
    let own = max(worker.bandInLocalQueues, worker.band)
    if let node = takeUrgent(waiting, above: own, first: .lanes, for: worker) { return node }
    if let node = takeOwnLane(for: worker) { return node }
    if waiting.hasLanes, let node = takeInjectedLane(for: worker) { return node }
    return takeOverdue(hints, first: .lanes, for: worker) ?? takeOwn(first: .lanes, for: worker)
      ?? search(first: .lanes, for: worker)
  }

  @inline(__always)
  func nextPick(of worker: Worker) -> UInt32 {
    let pick = worker.picks.load(ordering: .relaxed) &+ 1
    worker.picks.store(pick, ordering: .relaxed)
    return pick
  }

  /// Takes the worker's own queued work, or what goes before it.
  @inline(__always)
  func takeQueued(_ hints: InjectorHints, first: WorkKind, for worker: Worker) -> WorkNode? {
    // Read once: each queue's band takes three loads.
    let own = worker.bandsInLocalQueues
    if !hints.isEmpty {
      if let node = takeUrgent(hints.waiting, above: own.highest, first: first, for: worker) {
        return node
      }
      if let node = takeBeforeOwn(hints, band: own.highest, first: first, for: worker) {
        return node
      }
    }
    return takeOwn(own, first: first, for: worker)
  }

  // MARK: In turn

  @inline(never)
  private func takeInTurn(_ turn: UInt32, for worker: Worker) -> WorkNode? {
    if turn % 2 == 1 { return takeFromLocalQueue(Int(turn / 2), for: worker) }
    let turn = turn / 2
    let bands = UInt32(Band.userInteractive.rawValue)
    for step in 0..<2 * bands {
      let number = (turn &+ step) % (2 * bands)
      guard let band = Band(rawValue: UInt8(1 + number / 2)) else { continue }
      // Few nodes of its own are probably a chunk, and older. They take turns with the others
      // anyway (InjectorTurn).
      if band == worker.bandInLocalQueues && worker.queuedNodes < ChunkSize.most && !isStressed {
        continue
      }
      let key = InjectorKey(kind: number % 2 == 0 ? .items : .lanes, band: band)
      if let node = takeShare(of: key, for: worker) { return node }
    }
    return nil
  }

  /// Takes as many nodes from an injector as a searcher would, if no work of a higher band waits:
  /// a queue of its own in a lower band would keep the worker from taking urgent work in chunks.
  /// For one node it would turn a chunk round under the injector's lock, and so would each taker of
  /// the rest: 16 workers that take one in a hundred picks thus kept the lock busy all the time.
  func takeShare(of key: InjectorKey, for worker: Worker) -> WorkNode? {
    // Only a searcher may move nodes, see Pool+Park.swift.
    let isSearcher =
      hints.waiting.contains(key) && key.band >= nextBand(for: worker) && !runsLow(worker)
    if isSearcher { beginSearch(worker) }
    guard isSearcher else { return takeInjected(key, atMost: 1, for: worker) }
    return worker.hasLocalWork
      ? takeForTurn(of: worker) { takeInjected(key, atMost: $0, for: worker) }
      : takeChunk(for: worker) { takeInjected(key, atMost: $0, for: worker) }
  }

  /// Takes from the local queues of all workers in turn, its own included. Otherwise only workers
  /// without work look at a queue whose owner sleeps or is busy with more urgent work.
  private func takeFromLocalQueue(_ turn: Int, for worker: Worker) -> WorkNode? {
    let count = workerCount.load(ordering: .acquiring)
    guard let victim = self.worker(at: turn / 2 % count) else { return nil }
    guard let (node, band) = victim.localQueue(turn % 2 == 0 ? .items : .lanes).takeOldest() else {
      return nil
    }
    enter(band, worker)
    return node
  }

  /// Takes one injected node of a band above the worker's own queued work; `nil` if it has none.
  @inline(__always)
  private func takeUrgent(
    _ waiting: InjectorSet, above own: Band, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    guard own != .unspecified else { return nil }
    guard waiting.bands >> (own.rawValue + 1) != 0 else { return nil }
    return takeInjected(waiting, above: own, atMost: 1, first: first, for: worker)
  }

  /// Whether the worker's thread is in a class below default.
  func runsLow(_ worker: Worker) -> Bool {
    worker.thread.map(ThreadEffects.isLow) ?? false
  }

  func beginSearch(_ worker: Worker) {
    guard !worker.isSearching else { return }
    change { $0.searchBegan() }
    worker.isSearching = true
  }

  func takeOwnLane(for worker: Worker) -> WorkNode? { takeOwn(.lanes, for: worker) }

  func takeOwn(first: WorkKind, for worker: Worker) -> WorkNode? {
    takeOwn(worker.bandsInLocalQueues, first: first, for: worker)
  }

  /// Takes from the worker's local queues, whose bands the caller has read: the higher band first.
  @inline(__always)
  private func takeOwn(
    _ bands: Worker.LocalBands, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    let kind = bands.mostUrgent(orElse: first)
    return takeOwn(kind, for: worker) ?? takeOwn(kind.other, for: worker)
  }

  @inline(__always)
  func takeOwn(_ kind: WorkKind, for worker: Worker) -> WorkNode? {
    let localQueue = worker.localQueue(kind)
    guard let node = localQueue.take() else { return nil }
    enter(localQueue.band, worker)
    return node
  }

  @inline(never)
  private func search(first: WorkKind, for worker: Worker) -> WorkNode? {
    worker.injectorTurn.isInPass = false
    // It leaves at once, and searches if it then sees work: see Pool+ExternalWorker.
    if worker.isExternal && !worker.isSearching { return nil }
    if let thread = worker.thread {
      if ThreadEffects.isLow(thread) {
        if let node = takeOne(first: first, for: worker) { return node }
        worker.wasLow = true
      }
      // Nor may the monitor lower it while it searches.
      ThreadEffects.rest(thread)
    }
    beginSearch(worker)
    // A copy: an access that lasts as long as the search would be checked at run time.
    var adaptiveSearch = worker.adaptiveSearch
    if adaptiveSearch.isWorthwhile {
      let found = adaptiveSearch.search { look(first: first, for: worker) }
      worker.adaptiveSearch = adaptiveSearch
      if let found { return found }
    }
    var rounds = 1
    // An external worker searches once: it would rather wait for the next event. So does a worker
    // that was woken after a long sleep for a single node: no other is likely to follow now.
    if !worker.isExternal && !worker.isWokenForOne {
      let most = Self.looksInSearch / max(1, workerCount.load(ordering: .relaxed))
      rounds = max(1, min(most, configuration.searchRounds))
    }
    for _ in 0..<rounds {
      if let node = look(first: first, for: worker) { return node }
      spinHint()
    }
    return nil
  }

  private func look(first: WorkKind, for worker: Worker) -> WorkNode? {
    if let node = searchOnce(hints, first: first, for: worker) { return node }
    worker.thiefPause.waitIfDue()
    return nil
  }

  /// Takes the oldest node of another worker's queue.
  func takeOldest(_ kind: WorkKind, of victim: Victim, for worker: Worker) -> WorkNode? {
    // SAFETY: workers live as long as their pool.
    let oldest = victim.worker(of: self)?._withUnsafeGuaranteedRef {
      $0.localQueue(kind).takeOldest()
    }
    guard let (node, band) = oldest else { return nil }
    enter(band, worker)
    return node
  }

  /// While items sleep, a worker takes single nodes: those behind a sleeping item would begin after
  /// nodes that came later.
  func noteSleeps(of worker: Worker) {
    let isGrown = beyondWidth.load(ordering: .relaxed) > 0
    if isGrown || isStressed { worker.itemsSleep() }
  }

  /// Takes from an injector, or from another worker's queue, with `take`, which is given the number
  /// of nodes. The first one is returned, the others go to the worker's queue.
  @inline(__always)
  func takeChunk(for worker: Worker, _ take: (Int) -> WorkNode?) -> WorkNode? {
    noteSleeps(of: worker)
    let (now, pick) = (Clock.monotonicNanoseconds(), worker.picks.load(ordering: .relaxed))
    let most = worker.chunkSize.next(
      at: now, pick: pick, width: width.load(ordering: .relaxed))
    let before = worker.queuedNodes
    guard let node = take(most) else { return nil }
    // Other workers may have taken some already.
    let more = max(0, Int32(bitPattern: worker.queuedNodes &- before))
    worker.chunkSize.took(1 + Int(more), of: most, at: now, pick: pick)
    // What it has is older than what stays behind.
    beginPass(of: worker)
    return node
  }

  /// Steals part of another worker's queue.
  func steal(
    _ kind: WorkKind, from victim: Unmanaged<Worker>, for worker: Worker
  ) -> WorkNode? {
    let localQueue = worker.localQueue(kind)
    // SAFETY: workers live as long as their pool.
    let robbed = victim._withUnsafeGuaranteedRef { $0.localQueue(kind) }
    guard robbed.isWorthStealing(after: Self.looksAtSingle) else {
      worker.thiefPause.missed()
      return nil
    }
    guard let node = takeChunk(for: worker, { robbed.steal(into: localQueue, atMost: $0) })
    else { return nil }
    enter(localQueue.band, worker)
    return node
  }

  /// A worker with a local queue of some kind that is not empty, and that queue's band. If there is
  /// none, the index is negative and the band is the limit below which none was looked for.
  struct Victim {
    var index = -1
    var band: Band

    func worker(of pool: Pool) -> Unmanaged<Worker>? { index < 0 ? nil : pool.workers[index] }
  }

  /// Chooses a victim of each kind: the local queue of the highest band above `limit`. Thieves
  /// break ties by their own index. Reads the queues' words only, a cache line for each worker.
  func mostUrgentLocalQueues(
    above limit: Band = .unspecified, for worker: Worker
  ) -> (items: Victim, lanes: Victim) {
    let count = workerCount.load(ordering: .acquiring)
    var (items, lanes) = (Victim(band: limit), Victim(band: limit))
    var index = worker.index
    for _ in 1..<max(1, count) {
      index = index + 1 == count ? 0 : index + 1
      // SAFETY: as in hasWork().
      let itemsBand = localQueueWords.words(index, .items).pointee.bandOfNodes
      if itemsBand > items.band { items = Victim(index: index, band: itemsBand) }
      let lanesBand = localQueueWords.words(index, .lanes).pointee.bandOfNodes
      if lanesBand > lanes.band { lanes = Victim(index: index, band: lanesBand) }
    }
    return (items, lanes)
  }

  // MARK: Injectors

  func takeInjected(
    _ waiting: InjectorSet, above limit: Band, atMost most: Int, first: WorkKind,
    for worker: Worker
  ) -> WorkNode? {
    var bands = waiting.bands & UInt8.max << (limit.rawValue + 1)
    while bands != 0 {
      let band = InjectorSet.highest(bands)
      bands &= ~(1 << band.rawValue)
      let key = InjectorKey(kind: first, band: band)
      if let node = takeInjected(key, atMost: most, for: worker) { return node }
      let other = InjectorKey(kind: first.other, band: band)
      if let node = takeInjected(other, atMost: most, for: worker) { return node }
    }
    return nil
  }

  func takeInjected(_ key: InjectorKey, atMost most: Int, for worker: Worker) -> WorkNode? {
    guard configuration.injectors.contains(key) else { return nil }
    let localQueue = worker.localQueue(key.kind)
    // While lanes rest, each gets a thread of its own: see RestingLanes.
    let isAlone = key.kind == .lanes && lanesRest
    guard
      let node = withInjector(
        key, { $0.take(atMost: isAlone ? 1 : most, localQueue: localQueue, band: key.band) })
    else {
      unmarkIfEmpty(key)
      return nil
    }
    enter(key.band, worker)
    return node
  }

  /// Ends the search of a worker that found a node. The last searcher wakes the next for more work.
  func stopSearching(_ worker: Worker) {
    guard worker.isSearching else { return }
    worker.isSearching = false
    worker.wasLow = false
    worker.thiefPause = ThiefPause()
    let before = change { $0.searchEnded().0 }
    if before.searching == 1 && (worker.hasLocalWork || hasWork()) { wakeIfNeeded() }
  }
}
