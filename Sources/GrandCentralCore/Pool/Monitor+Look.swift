// Room: Pool/Monitor+Look. One look at the pool: the policy's input, and acting on its decision.
// A look reads hints while workers run. A change that it misses shows in the next look.

import CGrandCentralLinux

extension Monitor {
  /// State kept between looks. A monitor that has slept starts with fresh state.
  struct Looks {
    var policy: GrowthPolicy?
    var lastNanoseconds: UInt64 = 0
    var processCPUTime = ProcessCPUTime()
    /// By kind and band.
    var starvation = [Starvation](repeating: Starvation(), count: InjectorKey.count)
    /// By band: how long the oldest lane, or item, has waited in the injector.
    var laneWaits = [WaitClock](repeating: WaitClock(), count: Band.allCases.count)
    var itemWaits = [WaitClock](repeating: WaitClock(), count: Band.allCases.count)
    /// Items taken before the last look, modulo 2³², and the nanoseconds since one was taken.
    var itemsTaken: UInt32 = 0
    var itemsUntaken: UInt64 = 0
    /// Whether the last look found a thread that is to be lowered later.
    var changesLater = false
  }

  /// What this look found besides the policy's own counts.
  private struct Found {
    /// The kinds and bands of the nodes that workers run, and of those that wait.
    var atWork: InjectorSet = []
    var waiting: InjectorSet = []
    var oldestLane: UInt64?
    /// Of class default or above.
    var oldestUrgentLane: UInt64?
    /// The item of class default or above that has waited longest.
    var oldestUrgentItem: UInt64?
    /// Workers that have run a lane since the last look, and have no node now.
    var leftLanes = 0
    /// Whether a lane has waited for long, or an item in an injector.
    var isOverdue = false
    /// By band: how long the oldest item in the queue of a worker has waited that still picks.
    var localItems = InlineArray<6, UInt64>(repeating: 0)
    var items = (came: UInt32(0), went: UInt32(0))

    /// Notes how long the oldest node of an injector has waited. `nil`: it is empty.
    mutating func note(_ oldest: UInt64?, at key: InjectorKey, in pool: Pool) {
      if oldest == nil { pool.unmarkIfEmpty(key) } else { waiting.insert(InjectorSet(key)) }
    }

    mutating func noteItem(_ wait: UInt64?, of band: Band) {
      if band >= .default, let wait { oldestUrgentItem = max(oldestUrgentItem ?? 0, wait) }
    }

    mutating func note(_ lane: UInt64?, of band: Band) {
      guard let lane else { return }
      oldestLane = max(oldestLane ?? 0, lane)
      if band >= .default { oldestUrgentLane = max(oldestUrgentLane ?? 0, lane) }
    }
  }

  /// Looks at every worker and carries out the decision. Returns the CPU time of the look in
  /// nanoseconds, without making threads: that takes longer, but does not recur.
  @discardableResult
  func look(at pool: Pool, hasWork: Bool) -> UInt64 {
    let usedBefore = ownCPUNanoseconds
    let now = Clock.monotonicNanoseconds()
    // The first look after a rest has no earlier one.
    let elapsed = looks.lastNanoseconds == 0 ? Self.periodNanoseconds : now - looks.lastNanoseconds
    looks.lastNanoseconds = now
    let limits = pool.configuration
    var policy =
      looks.policy
      ?? GrowthPolicy(
        limits: GrowthPolicy.Limits(
          softThreads: limits.softThreads, softThreadsForLanes: limits.softThreadsForLanes,
          maxThreads: limits.maxThreads), firstThreads: pool.firstThreads)
    var found = Found()
    policy.begin()
    looks.changesLater = false
    for index in 0..<pool.workerCount.load(ordering: .acquiring) {
      guard let worker = pool.worker(at: index) else { continue }
      see(worker, of: pool, at: now, &policy, &found, elapsed: elapsed)
    }
    lookAtInjectors(of: pool, &found, elapsed: elapsed)
    looks.processCPUTime.note(
      Clock.processCPUNanoseconds(), byWorkers: policy.look.used,
      isBusy: policy.look.busy >= pool.width.load(ordering: .relaxed), at: now)
    let seen = pool.state.load(ordering: .relaxed)
    let itemsTaken = looks.itemsTaken
    let decision = policy.decide(
      GrowthPolicy.Waiting(
        hasWork: hasWork, oldestLane: found.oldestLane,
        oldestUrgentLane: found.oldestUrgentLane,
        itemsUntaken: itemsUntaken(found, elapsed: elapsed)),
      GrowthPolicy.Books(
        width: pool.width.load(ordering: .relaxed), threads: seen.threads, idle: seen.idle,
        active: seen.active, usedPerSecond: looks.processCPUTime.perSecond,
        isQuota: isUnderQuota(pool, at: now), isRefused: pool.isRefusedLately),
      elapsed: elapsed)
    looks.policy = policy
    restingLanes.note(resting: policy.look.restingLanes, left: found.leftLanes, at: now)
    lanesBehindOthers.note(decision.lanesBehindOthers, at: now)
    itemsBehindLanes.note(
      besideLongLanes: decision.areLanesLong,
      waits: found.oldestUrgentItem ?? 0 >= policy.thresholds.maxLaneWait,
      isTaken: found.items.went != itemsTaken, at: now)
    let used = ownCPUNanoseconds
    carryOut(decision, in: pool)
    boostStarved(pool, found, isScarce: decision.isScarce, elapsed: elapsed)
    if found.isOverdue { makeWay(in: pool) }
    return UInt64(max(0, used - usedBefore))
  }

  private func see(
    _ worker: Worker, of pool: Pool, at now: UInt64, _ policy: inout GrowthPolicy,
    _ found: inout Found, elapsed: UInt64
  ) {
    if pool.configuration.hasEffects, let thread = worker.thread {
      let isLowered = ThreadEffects.lowerIfDue(thread, at: now)
      worker.isToBeRaised = ThreadEffects.raiseIfDue(thread, isDue: worker.isToBeRaised)
      if isLowered || worker.isToBeRaised { looks.changesLater = true }
    }
    let picks = worker.picks.load(ordering: .relaxed)
    let hasPicked = picks != worker.lastPicks
    nameAfterQueue(worker, at: picks, hasPicked: hasPicked)
    lookAtQueues(of: worker, of: pool, hasPicked: hasPicked, &found, elapsed: elapsed)
    worker.looksAtPick = hasPicked ? 0 : worker.looksAtPick + 1
    worker.lastPicks = picks
    let isInLane = worker.isInLane.load(ordering: .relaxed)
    let status = worker.status.load(ordering: .relaxed)
    switch status {
    case .away:
      worker.looksAtPick = 0
      if hasPicked && isInLane { found.leftLanes += 1 }
    case .announced: policy.seeAnnounced(isInLane: isInLane, hasPicked: hasPicked)
    case .running, .uncounted:
      guard let thread = worker.thread else { break }
      let (used, since) = cpuTime(of: worker, at: now)
      let sight = GrowthPolicy.Sight(
        isCounted: status == .running, isInLane: isInLane,
        progress: picks &+ gc_items_of(thread), used: used, elapsed: since)
      let id = worker.lastLook.thread
      let verdict = policy.see(sight, &worker.record) {
        guard let state = Process.threadState(id),
          // Otherwise it may have begun to sleep in a wait of the engine.
          worker.status.load(ordering: .relaxed) == status
        else { return nil }
        if "SDtT".unicodeScalars.contains(state) {
          // More workers would wait for the same lock, and each would hold its item's memory.
          return state == "D" && Process.changesMappings(id) ? .inMappings : .asleep
        }
        return Process.sleeps(ofThread: id).map { .runnable(sleeps: $0) }
      }
      switch verdict {
      case .keep: break
      case .stopCounting: _ = mark(worker, in: pool)
      case .count: unmark(worker, in: pool)
      }
      noteAtWork(worker, isInLane ? .lanes : .items, used: min(used ?? 0, elapsed), &found)
    }
  }

  /// Notes what waits in a worker's local queues, and moves what would wait there for long.
  private func lookAtQueues(
    of worker: Worker, of pool: Pool, hasPicked: Bool, _ found: inout Found, elapsed: UInt64
  ) {
    let queued = worker.bandsInLocalQueues
    found.waiting.insert(InjectorSet(InjectorKey(kind: .items, band: queued.items)))
    found.waiting.insert(InjectorSet(InjectorKey(kind: .lanes, band: queued.lanes)))
    let lanes = worker.localQueue(.lanes).counts
    let laneWait = worker.laneWait.look(came: lanes.came, went: lanes.went, elapsed: elapsed)
    found.note(laneWait, of: queued.lanes)
    if laneWait ?? 0 >= Self.longestLocalWait { moveOldestLane(of: worker, in: pool) }
    let items = worker.localQueue(.items).counts
    let itemWait = worker.itemWait.look(came: items.came, went: items.went, elapsed: elapsed)
    found.noteItem(itemWait, of: queued.items)
    // Behind a longer item, or where the worker has stepped back, they may wait for long. That is
    // no reason to let others wait.
    if worker.looksAtPick < Self.looksAtLane, worker.status.load(ordering: .relaxed) == .running {
      let band = Int(queued.items.rawValue)
      found.localItems[band] = max(found.localItems[band], itemWait ?? 0)
    }
    found.items.came &+= items.came
    found.items.went &+= items.went
    if !hasPicked && pool.hasWorkersBelow(queued.highest) {
      pool.moveHigherNodes(of: worker)
      pool.wakeIfNeeded()
    }
  }

  /// Notes the node of a worker, and charges its class the CPU time since the last look. Part of
  /// that may have been for another class.
  private func noteAtWork(
    _ worker: Worker, _ kind: WorkKind, used: UInt64, _ found: inout Found
  ) {
    let band = Band(rawValue: worker.visibleBand.load(ordering: .relaxed)) ?? .unspecified
    let key = InjectorKey(kind: kind, band: band)
    // Each kind pays for itself: lanes get workers in other ways, too, and a log that is always at
    // work would keep all items of its class waiting.
    looks.starvation[key.index].used += used
    if worker.status.load(ordering: .relaxed) == .running { found.atWork.insert(InjectorSet(key)) }
  }

  /// Returns the CPU time of the worker's thread since the last look at it, and the elapsed time.
  private func cpuTime(of worker: Worker, at now: UInt64) -> (used: UInt64?, since: UInt64) {
    let thread = worker.threadID.load(ordering: .relaxed)
    // A thread that the last look did not see has begun since.
    let last =
      worker.lastLook.thread == thread
      ? worker.lastLook
      : Worker.LastLook(nanoseconds: now - Self.periodNanoseconds, cpuNanoseconds: 0)
    worker.lastLook.thread = thread
    worker.lastLook.nanoseconds = now
    guard thread != 0, let used = Clock.cpuNanoseconds(ofThread: thread) else {
      return (nil, now - last.nanoseconds)
    }
    worker.lastLook.cpuNanoseconds = used
    return (UInt64(max(0, used - last.cpuNanoseconds)), now - last.nanoseconds)
  }

  /// Measures how long the injectors' oldest nodes have waited, and ends stale hints: no worker
  /// finds an injector empty while all have nodes of higher bands.
  private func lookAtInjectors(of pool: Pool, _ found: inout Found, elapsed: UInt64) {
    var overdue: InjectorSet = []
    for band in Band.allCases where band != .unspecified {
      let itemsKey = InjectorKey(kind: .items, band: band)
      let items = pool.counts(of: itemsKey)
      found.items.came &+= items.came
      found.items.went &+= items.went
      let oldestItem = looks.itemWaits[Int(band.rawValue)].look(
        came: items.came, went: items.went, elapsed: elapsed)
      found.noteItem(oldestItem, of: band)
      if let oldestItem, oldestItem >= InjectorTurn.overdueNanoseconds {
        found.isOverdue = true
        // Otherwise a worker's queue has older ones. Items of a global queue need no order, so they
        // do not wait for ever longer ones.
        let local = min(found.localItems[Int(band.rawValue)], InjectorTurn.longestBehindLocal)
        if oldestItem > local {
          overdue.insert(InjectorSet(itemsKey))
        }
      }
      found.note(oldestItem, at: itemsKey, in: pool)
      let lanesKey = InjectorKey(kind: .lanes, band: band)
      let lanes = pool.counts(of: lanesKey)
      let oldestLane = looks.laneWaits[Int(band.rawValue)].look(
        came: lanes.came, went: lanes.went, elapsed: elapsed)
      found.note(oldestLane, of: band)
      if oldestLane ?? 0 >= InjectorTurn.overdueNanoseconds {
        overdue.insert(InjectorSet(lanesKey))
      }
      found.note(oldestLane, at: lanesKey, in: pool)
    }
    pool.setOverdue(overdue)
    if found.oldestLane ?? 0 >= InjectorTurn.overdueNanoseconds { found.isOverdue = true }
  }

  private func itemsUntaken(_ found: Found, elapsed: UInt64) -> UInt64? {
    let isUntaken = found.items.went == looks.itemsTaken
    looks.itemsTaken = found.items.went
    guard found.items.came != found.items.went else {
      looks.itemsUntaken = 0
      return nil
    }
    looks.itemsUntaken = isUntaken ? looks.itemsUntaken + elapsed : 0
    return looks.itemsUntaken
  }

  private func carryOut(_ decision: GrowthPolicy.Decision, in pool: Pool) {
    pool.beyondWidth.store(decision.beyondWidth, ordering: .relaxed)
    pool.lanesBeyond.store(decision.lanesBeyond, ordering: .relaxed)
    pool.lanesOvercommit.store(decision.lanesOvercommit, ordering: .relaxed)
    let width = pool.width.load(ordering: .relaxed)
    let resting = decision.isScarce ? 0 : restingLanes.count(width: width)
    pool.restingLanes.store(resting, ordering: .relaxed)
    let behindOthers = lanesBehindOthers.count(width: width, at: looks.lastNanoseconds)
    pool.lanesBehindOthers.store(behindOthers, ordering: .relaxed)
    pool.itemsBehindLanes.store(
      itemsBehindLanes.isOn(at: looks.lastNanoseconds), ordering: .relaxed)
    pool.raisedThreads.store(decision.threads, ordering: .relaxed)
    for _ in 0..<decision.lanesToSend {
      guard pool.sendOne(for: .lanes, maxThreads: decision.threadsForLanes) else { break }
    }
    for _ in 0..<decision.itemsToSend {
      looks.itemsUntaken = 0
      _ = pool.sendOne(for: .items, maxThreads: pool.configuration.maxThreads)
    }
    if let report = decision.report { pool.reportHolders(report) }
  }

  /// Moves the oldest lane of a worker's queue to the injector, whose lanes all workers take in
  /// turn: its own worker may sleep, or be busy for long, and the others look at each other's
  /// queues rarely while they have work.
  private func moveOldestLane(of worker: Worker, in pool: Pool) {
    guard let (node, band) = worker.lanes.takeOldest() else { return }
    pool.putBack(node, band: band)
    // A scan between the two may have missed the node: as after any submission.
    pool.wakeIfNeeded()
  }

  /// How long a lane stays in a worker's queue while other lanes go before it, in nanoseconds.
  private static var longestLocalWait: UInt64 { 2 * InjectorTurn.overdueNanoseconds }

  /// Asks the workers that have been at the same pick for milliseconds to end their drains: short
  /// items never become overdue, and a thousand of them may last for a second. A worker that runs
  /// an item instead only puts its lanes into the injector meanwhile; a lane on a concurrent queue
  /// comes as an item.
  private func makeWay(in pool: Pool) {
    for index in 0..<pool.workerCount.load(ordering: .acquiring) {
      guard let worker = pool.worker(at: index), worker.looksAtPick >= Self.looksAtLane,
        let thread = worker.thread
      else { continue }
      gc_give_way(thread)
    }
  }

  /// After so many looks at a lane, one a millisecond, a worker gives way to lanes that wait.
  private static var looksAtLane: Int { 4 }

  /// Sends a worker to each class that has had work and no worker while higher classes run; items
  /// and lanes apart, since a worker beyond the allowance may be for lanes only. Higher ones first:
  /// after one early turn the others wait until its worker has begun.
  private func boostStarved(_ pool: Pool, _ found: Found, isScarce: Bool, elapsed: UInt64) {
    for band in Band.allCases.reversed() where band != .unspecified {
      let areHigher = found.atWork.highestBand > band
      for kind in WorkKind.allCases {
        let key = InjectorKey(kind: kind, band: band)
        let isStarved =
          areHigher && found.waiting.contains(key) && !found.atWork.contains(key)
        let verdict = looks.starvation[key.index].look(
          at: band, isStarved: isStarved, isCharged: areHigher && isScarce, elapsed: elapsed)
        switch verdict {
        case .none: break
        case .turn: _ = pool.boost(key)
        case .earlyTurn:
          if pool.hasThread && pool.boostIfUnused(key) {
            looks.starvation[key.index].hadEarlyTurn(of: band)
          }
        }
      }
    }
  }
}
