// Room: Pool/Pool+Classes. How many workers may run for each class. Work of one class keeps to the
// allowance, the number of active workers. But it must not wait for items of a lower class to end,
// so only the workers in its own class or above count for it. While workers run below it, as many
// more are admitted (extra(for:)). A worker beyond the allowance takes only work of a class that
// admits it: the one that was woken for urgent work, if that is gone, as the one whose item has
// ended. Otherwise it steps back (Pool+Beyond, Pool+Park). The kernel prefers the threads of higher
// classes (ThreadPolicy/ClassEffects). Therefore:
//   - work of a class gets a thread at once, unless the allowance is in use in that class or above
//   - no item of a class begins while as many workers as allowed run in that class or above, unless
//     the class starves
//   - at most five allowances are active: each class beside all lower ones, for one item each
// The effect of a lower class on a higher one is bounded: at most the allowance of started items
// compete with it for the CPUs, by the kernel's rules.
// The effect of a higher class on a lower one is bounded too. If items of a class wait and none
// runs, while items above it do, for 100 looks of the monitor (one a millisecond), they get one
// extra worker for one item, and for those that it begins in the next two milliseconds; and so do
// lanes (Starvation, StarvedTurn). So each class starts at least ten items and ten lanes a second,
// and short ones fast enough that a log or a queue of clean-ups does not grow without end. From
// utility up they get one sooner; utility pays for that.
// Besides, workers that the allowance covers now and then take waiting work in turn (Pool+Take),
// regardless of class: a class gets about one of 1,200 picks of each worker.
// All inputs are hints. A stale one costs a worker too many or too few for one item.

/// The turn of a worker that was sent for items, or lanes, of a starved class. It takes no others:
/// a long item would keep it from the lanes, and another worker would come for these. It begins
/// when the worker picks again after its first node, so that the time until a CPU runs it does not
/// count, and lasts two milliseconds. By a clock: the monitor makes no looks while it rests.
struct StarvedTurn {
  static var nanoseconds: UInt64 { 2_000_000 }

  let key: InjectorKey
  /// When it ends, by the monotonic clock; `nil`: it has not begun.
  private var end: UInt64?

  init(of key: InjectorKey, until end: UInt64? = nil) {
    self.key = key
    self.end = end
  }

  /// Whether it lasts. Begins it at the first call.
  mutating func lasts(at now: UInt64) -> Bool {
    if let end { return now < end }
    end = now &+ Self.nanoseconds
    return true
  }
}

extension Pool {
  /// Whether a thread is idle, or may be made for work that waits behind other kinds. An early turn
  /// (Starvation) needs one: it takes none of the reserve, and items that sleep get few threads.
  var hasThread: Bool {
    let seen = state.load(ordering: .relaxed)
    if seen.idle > 0 { return true }
    let limit = threadsBehindOthers
    return idleLock.withLock { seen.threads < maxThreads(upTo: limit) }
  }

  /// The workers admitted beyond the allowance for work of `band`.
  func extra(for band: Band) -> Int {
    // Usually all work is of one class, and there is nothing to count.
    hasWorkersBelow(band) ? runningBelow(band) : 0
  }

  /// The band of the work that a worker between two items would take next, without stealing.
  func nextBand(for worker: Worker) -> Band {
    max(worker.bandInLocalQueues, mostUrgentWaiting())
  }

  /// Whether a worker may run work of `band` though `beyond` more workers are active than allowed,
  /// this one included: as many others run below that band.
  func admits(_ band: Band, on worker: Worker, beyond: Int) -> Bool {
    hasWorkersBelow(band) && runningBelow(band, except: worker) >= beyond
  }

  /// Moves the worker to `band` in the counts.
  func enter(_ band: Band, _ worker: Worker) {
    guard worker.band != band else { return }
    var delta: UInt64 = 0
    if worker.band != .unspecified { delta &-= 1 << (UInt64(worker.band.rawValue) * 10) }
    if band != .unspecified { delta &+= 1 << (UInt64(band.rawValue) * 10) }
    worker.band = band
    worker.visibleBand.store(band.rawValue, ordering: .relaxed)
    // relaxed: submitters use the count as a hint.
    bandUse.wrappingAdd(delta, ordering: .relaxed)
  }

  @inline(__always)
  func mostUrgentWaiting() -> Band { hints.waiting.highestBand }

  /// The number of other active workers whose last node was an item, counted up to `limit`: a pool
  /// that once had many workers keeps their records, and submitters ask this.
  func itemsAtWork(except self: Worker?, upTo limit: Int) -> Int {
    var count = 0
    forEachWorker { worker in
      let isActive = worker.status.load(ordering: .relaxed) == .running
      if isActive && worker !== self && !worker.isInLane.load(ordering: .relaxed) { count += 1 }
      return count < limit
    }
    return count
  }

  /// Whether another worker, counted or not, has a node of that kind and band.
  func hasWorker(at key: InjectorKey, except self: Worker? = nil) -> Bool {
    guard workers(in: key.band) > 0 else { return false }
    var isFound = false
    forEachWorker { worker in
      isFound =
        worker !== self && worker.isInLane.load(ordering: .relaxed) == (key.kind == .lanes)
        && worker.visibleBand.load(ordering: .relaxed) == key.band.rawValue
        && worker.status.load(ordering: .relaxed) != .away
      return !isFound
    }
    return isFound
  }

  /// The number of active workers in a band below `band`.
  private func runningBelow(_ band: Band, except self: Worker? = nil) -> Int {
    var left = workersBelow(band)
    if let own = self?.band, own != .unspecified, own < band { left -= 1 }
    let seen = state.load(ordering: .relaxed)
    // No worker is blocked: all that are in a band are active. A pool that once had many workers
    // keeps their records, and this is asked at each pick.
    guard left > 0, seen.threads > seen.idle + seen.active else { return max(0, left) }
    var count = 0
    forEachWorker { worker in
      let its = worker.visibleBand.load(ordering: .relaxed)
      guard its != 0, its < band.rawValue, worker !== self else { return true }
      if worker.status.load(ordering: .relaxed) == .running { count += 1 }
      left -= 1
      return left > 0
    }
    return count
  }

  /// The number of workers in `band`, blocked ones included.
  private func workers(in band: Band) -> UInt64 {
    bandUse.load(ordering: .relaxed) >> (UInt64(band.rawValue) * 10) & 0x3ff
  }

  /// The number of workers in a band below `band`, blocked ones included.
  private func workersBelow(_ band: Band) -> Int {
    var use = bandUse.load(ordering: .relaxed) & (1 << (UInt64(band.rawValue) * 10) - 1)
    var count = 0
    while use != 0 {
      count += Int(use & 0x3ff)
      use >>= 10
    }
    return count
  }

  /// Calls `body` with the workers in turn, until it returns false. Counts no references: several
  /// workers ask this at each pick.
  @inline(__always)
  private func forEachWorker(_ body: (Worker) -> Bool) {
    for index in 0..<workerCount.load(ordering: .acquiring) {
      // SAFETY: as in worker(at:); workers live as long as their pool.
      guard workers[index]?._withUnsafeGuaranteedRef(body) ?? true else { return }
    }
  }
}

// MARK: Threads that are lowered or raised later

extension Pool: EffectsWatcher {
  func watchEffects() -> Bool {
    guard monitor.isThere else { return false }
    monitor.watch(self)
    return true
  }

  /// Whether a thread is to be lowered or raised later. The monitor's last look before it sleeps.
  var hasThreadsToChange: Bool {
    // sequentiallyConsistent: as in hasWork(), and the monitor's half of the pair in
    // ThreadPolicy/ThreadEffects.
    (0..<workerCount.load(ordering: .sequentiallyConsistent)).contains { index in
      guard let thread = worker(at: index)?.thread else { return false }
      return thread.shared.isLoweredLater.load(ordering: .sequentiallyConsistent)
        || thread.shared.isRaisedLater.load(ordering: .sequentiallyConsistent)
    }
  }
}
