// Room: Pool/ItemsBehindLanes. Items that lately waited while lanes held the CPUs.
// Long items of serial queues on all CPUs, of 5 ms perhaps, keep items of global and concurrent
// queues waiting: a worker beyond the allowance comes after milliseconds, for one of them. So for a
// second after an item of class default or above has waited so, such items may have as many workers
// as the width beside the lanes. A submitter wakes an idle one at once, and it takes items as long
// as some wait: the kernel shares the CPUs among them and the lanes. The second begins again while
// such lanes and items both continue. Beside short lanes, items have their turns (LaneTurn).
// Lanes of their class do not wait for the end of such items: takeForgottenLane().
// The class of the lanes does not matter. What the main thread submits is user-initiated, and often
// no choice of the program: see LaneTurn.

struct ItemsBehindLanes: Equatable {
  /// In monotonic nanoseconds.
  private var end: UInt64 = 0

  static var nanoseconds: UInt64 { 1_000_000_000 }

  /// Notes what a look found: whether as many long lanes as the width are at work; and whether an
  /// item waits for long, or was taken since the last look.
  mutating func note(besideLongLanes: Bool, waits: Bool, isTaken: Bool, at now: UInt64) {
    if besideLongLanes, waits || isTaken && isOn(at: now) { end = now + Self.nanoseconds }
  }

  func isOn(at now: UInt64) -> Bool { now < end }
}

extension Pool {
  /// Whether one more worker may take an item of class default or above beside the lanes.
  func mayTakeBehindLanes(except own: Worker? = nil) -> Bool {
    // relaxed, both: hints. Workers that look at the same time do not count each other.
    guard itemsBehindLanes.load(ordering: .relaxed) else { return false }
    let width = width.load(ordering: .relaxed)
    return itemsAtWork(except: own, upTo: width) < width
  }

  /// The number of active workers at which no further one is woken for such an item.
  var mostBehindLanes: Int { allowance + workersForLanes + width.load(ordering: .relaxed) }

  /// The maximum number of threads if the next one is for work that waits behind other kinds.
  var threadsBehindOthers: Int { max(threadAllowance, firstThreadsBehindOthers) }

  private var firstThreadsBehindOthers: Int {
    min(configuration.softThreads, firstThreads + 4 * width.load(ordering: .relaxed))
  }

  /// Whether more threads than those run or sleep: the lanes and items beside each other are no
  /// stress yet.
  var isStressedBehindLanes: Bool {
    let seen = state.load(ordering: .relaxed)
    return seen.threads - seen.idle > firstThreadsBehindOthers
  }

  /// Wakes or makes a worker for such an item, although the allowance is in use.
  @inline(never)
  func wakeForItemBehindLanes(seeing seen: PoolState) {
    let injectors = hints.waiting.from(.default).items.intersection(configuration.injectors)
    guard injectors.indices.contains(where: { !withInjector(at: $0) { $0.isEmpty } }) else {
      return
    }
    let (most, threads) = (mostBehindLanes, threadsBehindOthers)
    guard seen.active < most, !isStressedBehindLanes, seen.idle > 0 || seen.threads < threads,
      mayTakeBehindLanes()
    else { return }
    // As in wakeOneMore().
    if seen.idle == 0 && configuration.readMask != nil { followMask() }
    wake(allowance: most, maxThreads: threads)
  }

  /// Whether the next item of a worker goes to an injector, where that sees it: its own lane lasts.
  @inline(__always)
  func showsItems(of worker: Worker) -> Bool {
    itemsBehindLanes.load(ordering: .relaxed) && worker.isInLane.load(ordering: .relaxed)
  }

  /// Takes a node for a worker beyond the allowance while items have workers beside the lanes. By
  /// turns it is a lane, of a class that has none at work: the workers for lanes take those of the
  /// highest class. Under stress lanes come first (WorkKind).
  @inline(never)
  func takeBehindLanes(atPick pick: UInt32, for worker: Worker) -> WorkNode? {
    guard !worker.isExternal, mayTakeBehindLanes(except: worker) else { return nil }
    if isStressedBehindLanes && WorkKind.firstUnderStress(atPick: pick) == .lanes { return nil }
    let turn = WorkKind.first(atPick: pick)
    if turn == .lanes, let node = takeForgottenLane(for: worker) { return node }
    return takeItemBehindLanes(for: worker)
  }

  private func takeForgottenLane(for worker: Worker) -> WorkNode? {
    for band in [Band.default, .userInitiated, .userInteractive] {
      let key = InjectorKey(kind: .lanes, band: band)
      let waits =
        hints.waiting.contains(key) || worker.bandInLocalQueue(.lanes) == band
        || mostUrgentLocalQueues(for: worker).lanes.band == band
      guard waits, !hasWorker(at: key, except: worker) else { continue }
      if let (node, band) = takeOldest(from: key, for: worker) {
        enter(band, worker)
        return node
      }
    }
    return nil
  }
}
