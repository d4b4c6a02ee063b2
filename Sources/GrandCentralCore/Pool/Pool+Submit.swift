// Room: Pool/Pool+Submit. How a node comes to a worker: handed to an idle one, put in the
// submitting worker's local queue, or published in an injector, for which an idle worker wakes if
// one more helps. That no node is left behind while a worker falls asleep is argued in Pool+Park.
// Submitters have at most one wake-up in flight: a woken worker counts as searching from the moment
// it is chosen, and submitters wake no worker while one searches. Three ignore this: the monitor
// when it sends a worker (forceWoken), handOffToIdle(), and submitToIdle() for work of a higher
// class than others run. The last searcher to find work wakes the next worker if there is more
// work.
import CGrandCentralLinux

extension Pool {
  /// Runs `node` on a worker. Consumes the node. Any thread; never blocks for long.
  func submit(_ node: WorkNode, _ kind: WorkKind, band asked: Band, from thread: ThreadContext) {
    let key = InjectorKey(kind: kind, band: asked == .unspecified ? .default : asked)
    if thread.pointee.worker == nil && submitToIdle(node, key) { return }
    if putLocally(node, key, on: thread) {
      if isDelivering(thread) { return }
    } else {
      withInjector(key) { $0.push(node) }
      markWaiting(key)
      if defersWake(for: key.band, on: thread) { return monitor.watch(self) }
    }
    wakeIfNeeded()
  }

  /// Runs `count` nodes of one kind and band on workers: a list, from the oldest to the newest.
  /// `isBehindMany`: many nodes of the sender are in the pool already, so these go behind what
  /// waits in the injector. Otherwise a queue with a backlog, where each item that ends makes room
  /// for the next one, would run later items on the workers whose items have ended, before its
  /// first ones. A worker publishes what has room in its local queue at once, and wakes one other
  /// for all of them; that one wakes the next. Consumes the nodes. Any thread; never blocks for
  /// long.
  func submit(
    _ oldest: WorkNode, count: Int, isBehindMany: Bool, _ kind: WorkKind, band asked: Band,
    from thread: ThreadContext
  ) {
    let key = InjectorKey(kind: kind, band: asked == .unspecified ? .default : asked)
    var rest: WorkNode? = oldest
    if thread.pointee.worker == nil {
      let next = oldest.next
      if submitToIdle(oldest, key) { rest = next }
      if rest == nil { return }
    }
    // relaxed: a hint, as is the order of nodes in different places.
    let mayPass = !isBehindMany || !hints.waiting.contains(key)
    if mayPass, let localQueue = localQueue(for: key, on: thread) {
      let room = min(count, localQueue.room(for: key.band) - LocalQueue.reserved)
      if room > 0 { rest = localQueue.put(oldest, first: room, band: key.band) }
    }
    if rest != nil {
      withInjector(key) { injector in
        while let node = rest {
          rest = node.next
          injector.push(node)
        }
      }
      markWaiting(key)
    }
    wakeIfNeeded()
  }

  /// Puts the node in the calling worker's local queue, if it may and has room.
  @inline(__always)
  private func putLocally(_ node: WorkNode, _ key: InjectorKey, on thread: ThreadContext) -> Bool {
    // Items of a concurrent queue start in order, so they go behind those that found no room here.
    // relaxed: a hint, as is the order of nodes that two threads submit.
    if node.traits.contains(.carried) && hints.waiting.contains(key) { return false }
    guard let localQueue = localQueue(for: key, on: thread), localQueue.acceptsFromItem(key.band)
    else { return false }
    localQueue.put(node, band: key.band)
    return true
  }

  /// Whether the thread, a worker's, delivers events as an external worker.
  @inline(__always)
  private func isDelivering(_ thread: ThreadContext) -> Bool {
    // SAFETY: as in Blocking.announced().
    Unmanaged<Worker>.fromOpaque(thread.pointee.worker.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef { $0.isDelivering }
  }

  /// The calling worker's local queue for nodes of that kind and band; `nil` for another thread, if
  /// the worker runs in another band, if one in a lower band must see the nodes, for lanes that may
  /// need a thread of the reserve, one beyond the allowance or that of a worker whose lane gives
  /// way, or for items that a worker of the reserve will not take, or one in a long lane only late.
  @inline(__always)
  private func localQueue(for key: InjectorKey, on thread: ThreadContext) -> LocalQueue? {
    guard let worker = thread.pointee.worker else { return nil }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(worker)._withUnsafeGuaranteedRef { worker in
      // For this pool, a worker of another pool is an ordinary thread.
      guard worker.pool === self, !hasWorkersBelow(key.band),
        key.kind == .items
          ? !worker.isInReserve && !showsItems(of: worker)
          : !hasFirstThreads && !showsLanes(of: worker) && !gc_gives_way(thread)
      else { return nil }
      if worker.band != key.band {
        // An external worker has no band until it has submitted a node.
        guard worker.band == .unspecified else { return nil }
        enter(key.band, worker)
      }
      return worker.localQueue(key.kind)
    }
  }

  // MARK: The bits of the injectors

  /// Sets the bit of an injector that has just received work. The caller then wakes a worker.
  func markWaiting(_ key: InjectorKey) {
    let bit = InjectorSet(key).rawValue
    // sequentiallyConsistent, both: either unmarkIfEmpty() sees our node, or we see its cleared
    // bit. And with the bit the node is published: see Pool+Park.
    if injectorHints.load(ordering: .sequentiallyConsistent) & bit == 0 {
      injectorHints.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }
  }

  /// Clears the bits of an injector that was found empty.
  func unmarkIfEmpty(_ key: InjectorKey) {
    let bit = InjectorSet(key).rawValue
    let bits = bit | bit << InjectorHints.overdueShift
    // The monitor may have called it overdue after its last node was taken.
    guard injectorHints.load(ordering: .relaxed) & bits != 0 else { return }
    injectorHints.bitwiseAnd(~bits, ordering: .sequentiallyConsistent)
    if !withInjector(key, { $0.isEmpty }) {
      injectorHints.bitwiseOr(bit, ordering: .sequentiallyConsistent)
      // A scan between the two missed the node, whose submitter may have seen a searcher.
      // sequentiallyConsistent: the submitter's half of the pair in Pool+Park.
      wakeIfNeeded(seeing: state.load(ordering: .sequentiallyConsistent))
    }
  }

  /// Whether one of these injectors has a node. Clears the hints of those that have none: a taker
  /// leaves the hint of one that it has emptied.
  func hasNode(in injectors: InjectorSet) -> Bool {
    for index in injectors.intersection(configuration.injectors).indices {
      if !withInjector(at: index, { $0.isEmpty }) { return true }
      if let key = InjectorKey(index: index) { unmarkIfEmpty(key) }
    }
    return false
  }

  // MARK: Waking a worker

  /// Wakes or starts a worker for published work, if one more helps. Never blocks for long.
  func wakeIfNeeded() {
    // sequentiallyConsistent: the submitter's half of the pair in Pool+Park.
    wakeIfNeeded(seeing: state.load(ordering: .sequentiallyConsistent))
  }

  /// As above. `seen`: the state, loaded after the publication.
  func wakeIfNeeded(seeing seen: PoolState) {
    if seen.searching > 0 { return }
    // A busy pool, in few steps: all that are allowed are active, and none runs below this work.
    if seen.active >= allowance && !hasWorkersBelow(mostUrgentWaiting()) {
      return wakeBeyond(seeing: seen)
    }
    wakeOneMore(seeing: seen)
  }

  /// While the allowance is in use: only lanes, and items behind long ones, may get a worker before
  /// the monitor looks.
  private func wakeBeyond(seeing seen: PoolState) {
    if lanesRest { wakeForRestingLanes(seeing: seen) }
    if lanesBehindOthers.load(ordering: .relaxed) != 0 { wakeForLaneBehindOthers(seeing: seen) }
    if itemsBehindLanes.load(ordering: .relaxed) { wakeForItemBehindLanes(seeing: seen) }
    monitor.watch(self)
  }

  @inline(never)
  private func wakeOneMore(seeing seen: PoolState) {
    var allowed = allowance
    if seen.idle == 0 && seen.active < allowed && configuration.readMask != nil {
      // A thread will be made: read the affinity mask first.
      followMask()
      allowed = allowance
    }
    if seen.active < allowed {
      // While lanes rest, they are not active.
      return wake(allowance: allowed, maxThreads: threadsForRestingLanes)
    }
    let band = mostUrgentWaiting()
    let extra = extra(for: band)
    if seen.active >= allowed + extra { return wakeBeyond(seeing: seen) }
    wake(allowance: allowed + extra, maxThreads: threadAllowance + extra, for: band)
  }

  /// Wakes an idle worker and passes it `node`, if `wakeIfNeeded()` would wake a worker for it, or
  /// does not only because one searches that may wait for a CPU: no scan is needed for a node that
  /// is never published, nor for one that is published before the grant. A worker need not search
  /// for a node that it is passed, which saves about six cold cache lines. Only for threads outside
  /// the pool: a worker finds its own work soonest in its local queue.
  func submitToIdle(_ node: WorkNode, _ key: InjectorKey) -> Bool {
    var allowed = allowance
    // relaxed: a guess; the exchange below decides.
    let seen = state.load(ordering: .relaxed)
    guard seen.idle > 0 else { return false }
    let isInUse = seen.active >= allowed
    // A searcher may be a thread that was woken for work of a lower class, beside such work that
    // runs, and waits for a CPU. Earlier nodes go first.
    let ignoresSearch =
      seen.searching > 0 && isInUse && hasWorkersBelow(key.band)
      && withInjector(key) { $0.isEmpty }
    guard seen.searching == 0 || ignoresSearch else { return false }
    var (overcommits, needsLook) = (false, false)
    var forClass = allowed
    if isInUse {
      allowed += extra(for: key.band)
      forClass = allowed
      // The workers that are active keep their CPUs; the kernel shares them with this one.
      if key.kind == .lanes {
        overcommits = lanesOvercommit.load(ordering: .relaxed)
        let more = lanesAtOnce(for: key.band)
        allowed += more
        needsLook = overcommits || more > 0
      } else if key.band >= .default, !isStressedBehindLanes, mayTakeBehindLanes() {
        allowed = max(allowed, mostBehindLanes)
        needsLook = true
      }
      guard seen.active < allowed || overcommits else { return false }
    }
    idleLock.lock()
    let isChosen = changeIfApplicable { state in
      // An idle worker needs no new thread, so the thread limit does not matter.
      let isForced = state.searching == 0 ? overcommits : ignoresSearch && state.active < forClass
      let (next, action) =
        isForced
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
    if isInUse && hasWorkersFromDefault(below: key.band) {
      // The kernel may let the woken thread wait for milliseconds for one that computes. If that
      // ends its item before, it takes the node.
      withInjector(key) { $0.push(node) }
      markWaiting(key)
    } else {
      chosen.hand(node, band: key.band)
    }
    if isInUse { raise(chosen, to: key.band) }
    // SAFETY of unsafelyUnwrapped: `thread` is set before a worker is first idle.
    Parker.grant(chosen.thread.unsafelyUnwrapped)
    // Only its looks say whether such a worker still helps.
    if needsLook { monitor.watch(self) }
    return true
  }

  /// Wakes or starts a worker while fewer are active than allowed, and if one must be made, while
  /// there are fewer threads than that and than the final limit.
  /// `band`: the class of the work, if the worker may have to share a CPU.
  func wake(
    allowance: Int, maxThreads limit: @autoclosure () -> Int, for band: Band = .unspecified
  ) {
    let (action, chosen) = choose {
      // Mostly a worker is idle, and the limit does not matter.
      $0.woken(allowance: allowance, maxThreads: $0.idle > 0 ? 0 : maxThreads(upTo: limit()))
    }
    if action == .saturated {
      wakeReserve()
      return monitor.watch(self)
    }
    guard let chosen else { return }
    if !chosen.isNew { raise(chosen.worker, to: band) }
    rouse(chosen)
  }

  /// Gives the thread of a chosen worker the settings of a class above default before it wakes up,
  /// while all CPUs are in use: with the kernel's slice it would wait up to a millisecond for the
  /// slice of a running thread to end, before it could set them itself.
  private func raise(_ chosen: Worker, to band: Band) {
    guard band > .default, configuration.hasEffects, let thread = chosen.thread else { return }
    ThreadEffects.help(thread, to: band)
  }

  /// Applies `decide` to the state, and takes an idle worker or a record for a new thread. `decide`
  /// runs under the idle lock.
  func choose(
    _ decide: (PoolState) -> (PoolState, PoolState.WakeAction)
  ) -> (PoolState.WakeAction, (worker: Worker, isNew: Bool)?) {
    idleLock.withLock {
      var action = PoolState.WakeAction.nothing
      // sequentiallyConsistent: as in change().
      let isChosen = state.transition(.sequentiallyConsistent) { seen -> PoolState? in
        let (next, decided) = decide(seen)
        action = decided == .spawn && !hasFreeRecord ? .saturated : decided
        return action == .wakeIdle || action == .spawn ? next : nil
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
}
