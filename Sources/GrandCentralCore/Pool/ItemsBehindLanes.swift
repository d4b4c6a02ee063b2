// Room: Pool/ItemsBehindLanes. Items that lately waited while lanes held the CPUs.
// Long items of serial queues on all CPUs, of 5 ms perhaps, keep items of global and concurrent
// queues waiting: a worker beyond the allowance comes after milliseconds, for one of them. So for a
// second after an item of class default or above has waited so, such items may have as many workers
// as the width beside the lanes. A submitter wakes an idle one at once, and it takes items as long
// as some wait: the kernel shares the CPUs among them and the lanes. The second begins again while
// such lanes and items both continue. Beside short lanes, items have their turns (LaneTurn).
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
    itemsBehindLanes.load(ordering: .relaxed)
      && itemsAtWork(except: own) < width.load(ordering: .relaxed)
  }

  /// The number of active workers at which no further one is woken for such an item.
  var mostBehindLanes: Int { allowance + workersForLanes + width.load(ordering: .relaxed) }

  /// The maximum number of threads if the next one is for work that waits behind other kinds.
  var threadsBehindOthers: Int {
    max(
      threadAllowance,
      min(configuration.softThreads, firstThreads + 2 * width.load(ordering: .relaxed)))
  }

  /// Wakes or makes a worker for such an item, although the allowance is in use.
  @inline(never)
  func wakeForItemBehindLanes(seeing seen: PoolState) {
    let (most, threads) = (mostBehindLanes, threadsBehindOthers)
    guard seen.active < most, seen.idle > 0 || seen.threads < threads, mayTakeBehindLanes(),
      hasItemBehindLanes
    else { return }
    wake(allowance: most, maxThreads: threads)
  }

  /// Whether such an item is in an injector, or in a local queue.
  private var hasItemBehindLanes: Bool {
    let injected = hints.waiting.from(.default).items.intersection(configuration.injectors)
    if injected.indices.contains(where: { !withInjector(at: $0) { $0.isEmpty } }) { return true }
    return (0..<workerCount.load(ordering: .acquiring)).contains {
      // SAFETY: as in hasWork().
      localQueueWords.words($0, .items).pointee.bandOfNodes >= .default
    }
  }
}
