// Room: Pool/Pool+Beyond. Where a worker finds its next node while more workers are active than
// allowed (Pool+Classes). It looks in this order:
//   1. while the turn lasts for which it was sent, items or lanes of a class that starved
//   2. an item, while items may have workers beside lanes (ItemsBehindLanes)
//   3. while lanes may have that many workers, a lane, or at every other pick an item in its place,
//      under stress at every fourth; items for a while where a lane has given way (LaneTurn). Its
//      own lanes go first, but for the turns of those that are overdue (InjectorTurn): the queues
//      of all workers may hold lanes that come back without end
//   4. work whose class admits the worker
// Otherwise it steps back, and leaves the work to the workers that are active.

extension Pool {
  /// Takes a node for one of the workers of which `beyond` are more than allowed.
  @inline(never)
  func take(beyond: Int, for worker: Worker) -> WorkNode? {
    let pick = nextPick(of: worker)
    let isStressed = isStressed
    let turn =
      isStressed ? WorkKind.firstUnderStress(atPick: pick) : WorkKind.first(atPick: pick)
    let first = isStressed ? .lanes : turn
    if worker.starvedTurn != nil, let node = takeStarved(first: first, for: worker) { return node }
    let besideItems = itemsBehindLanes.load(ordering: .relaxed)
    if besideItems, let node = takeBehindLanes(atPick: pick, for: worker) { return node }
    // The workers with items are beside those for lanes.
    let width = width.load(ordering: .relaxed)
    let others = besideItems ? itemsAtWork(except: worker, upTo: width) : 0
    if beyond <= workersForLanes + others {
      if turn == .items, let node = takeBesideLanes(for: worker, isBeyond: true) { return node }
      if let node = takeOverdueLane(for: worker) {
        worker.tookOverdueLane = true
        return node
      }
      worker.tookOverdueLane = false
      if let node = takeLane(for: worker) { return node }
    }
    var band = nextBand(for: worker)
    while admits(band, on: worker, beyond: beyond), let limit = Band(rawValue: band.rawValue - 1) {
      if let node = take(above: limit, first: first, for: worker) { return node }
      // Another worker was faster. The bit of the emptied injector is cleared now.
      let next = nextBand(for: worker)
      guard next < band else { break }
      band = next
    }
    return nil
  }

  /// The workers beyond the allowance that lanes may have now.
  var workersForLanes: Int {
    // relaxed: a hint of the last look.
    max(lanesBeyond.load(ordering: .relaxed), lanesAtOnce(for: .default))
  }

  /// Takes a node of a band above `limit`.
  private func take(above limit: Band, first: WorkKind, for worker: Worker) -> WorkNode? {
    let hints = hints
    if worker.bandInLocalQueues > limit,
      let node = takeQueued(hints, first: first, for: worker)
    {
      return node
    }
    // A search moves nodes into the worker's local queues, which may still hold lower ones.
    if worker.hasLocalWork || runsLow(worker) {
      return takeOne(above: limit, first: first, for: worker)
    }
    beginSearch(worker)
    return searchOnce(hints, above: limit, first: first, for: worker)
  }

  /// Takes an item of the lanes' class or above in place of a lane. While lanes keep workers beyond
  /// the allowance, all active workers are beyond it, so without this none of them would take an
  /// item. Such workers give items about half of the width, since they may be long: workers that
  /// look at the same time do not count each other.
  func takeBesideLanes(for worker: Worker, isBeyond: Bool) -> WorkNode? {
    let waiting = hints.waiting
    let victims = mostUrgentLocalQueues(for: worker)
    let lane = max(
      worker.bandInLocalQueue(.lanes), victims.lanes.band, waiting.highestBand(of: .lanes))
    let own = worker.bandInLocalQueue(.items)
    let injected = waiting.highestBand(of: .items)
    let band = max(own, injected, victims.items.band)
    guard band != .unspecified, band >= lane else { return nil }
    let limit = (width.load(ordering: .relaxed) + 1) / 2
    if isBeyond && itemsAtWork(except: worker, upTo: limit) >= limit { return nil }
    return takeItem(of: band, victims.items, for: worker)
  }

  /// Takes an item of class default or above, whatever the lanes: see ItemsBehindLanes.
  func takeItemBehindLanes(for worker: Worker) -> WorkNode? {
    let victim = mostUrgentLocalQueues(for: worker).items
    let injected = hints.waiting.highestBand(of: .items)
    let band = max(worker.bandInLocalQueue(.items), injected, victim.band)
    return band >= .default ? takeItem(of: band, victim, for: worker) : nil
  }

  /// Takes an item of `band`, the highest that was seen in an injector, in its own queue and in
  /// that of `victim`.
  private func takeItem(of band: Band, _ victim: Victim, for worker: Worker) -> WorkNode? {
    let own = worker.bandInLocalQueue(.items)
    let injected = hints.waiting.highestBand(of: .items)
    if injected == band,
      let node = takeInjected(InjectorKey(kind: .items, band: band), atMost: 1, for: worker)
    {
      return node
    }
    if own == band, let node = worker.items.take() {
      enter(band, worker)
      return node
    }
    // What was seen in an injector or in its own queue may be gone: a lower item does not go first.
    guard victim.band == band else { return nil }
    return takeOldest(.items, of: victim, for: worker)
  }

  /// Takes another node for a worker that was sent for a starved class, while its turn lasts.
  private func takeStarved(first: WorkKind, for worker: Worker) -> WorkNode? {
    guard var turn = worker.starvedTurn, turn.lasts(at: Clock.monotonicNanoseconds()) else {
      worker.starvedTurn = nil
      return nil
    }
    worker.starvedTurn = turn
    // Its own nodes first at some picks only: an item that submits itself again is among them.
    if first == .items && worker.bandInLocalQueue(turn.key.kind) == turn.key.band,
      let node = takeOwn(turn.key.kind, for: worker)
    {
      return node
    }
    if let (node, band) = takeOldest(from: turn.key, for: worker) {
      enter(band, worker)
      return node
    }
    worker.starvedTurn = nil
    return nil
  }

  /// Takes an overdue lane before the worker's own, if it is of their class or above, none above it
  /// waits, and it is the worker's turn. The next lane is one of its own.
  private func takeOverdueLane(for worker: Worker) -> WorkNode? {
    let own = worker.bandInLocalQueue(.lanes)
    guard own != .unspecified, !worker.tookOverdueLane else { return nil }
    let hints = hints
    let band = hints.overdue.highestBand(of: .lanes)
    guard band >= own, band >= hints.waiting.highestBand(of: .lanes) else { return nil }
    let pick = worker.picks.load(ordering: .relaxed)
    let look = overdueLook.load(ordering: .relaxed)
    var turn = worker.injectorTurn
    guard turn.isDue(atPick: pick, look: look) else { return nil }
    turn.took(atPick: pick, look: look, queued: worker.lanes.count)
    worker.injectorTurn = turn
    return takeInjected(InjectorKey(kind: .lanes, band: band), atMost: 1, for: worker)
  }

  /// Takes a lane and never an item. The worker does not count as a searcher, and so wakes no other
  /// worker.
  func takeLane(for worker: Worker) -> WorkNode? {
    let band = hints.waiting.highestBand(of: .lanes)
    if band > worker.bandInLocalQueue(.lanes),
      let node = takeInjected(InjectorKey(kind: .lanes, band: band), atMost: 1, for: worker)
    {
      return node
    }
    if let node = takeOwnLane(for: worker) ?? takeInjectedLane(for: worker) { return node }
    return takeOldest(.lanes, of: mostUrgentLocalQueues(for: worker).lanes, for: worker)
  }

  func takeInjectedLane(for worker: Worker) -> WorkNode? {
    var value = Band.userInteractive.rawValue
    while let band = Band(rawValue: value), band != .unspecified {
      let key = InjectorKey(kind: .lanes, band: band)
      if let node = takeInjected(key, atMost: 1, for: worker) { return node }
      value -= 1
    }
    return nil
  }
}
