// Room: Pool/Pool+LaneReserve. Threads for lanes alone, while all others wait inside items.
// Items may take every thread that the pool may have, and then wait for what a lane does: by
// `sync()` behind an `async()` to the same queue, or for a semaphore that an item of the queue
// signals. Until the monitor adds a thread, no thread is left for that lane; at the final limit
// none ever is, and the program hangs. A thread that also takes items does not help for long, since
// the next item fills it as well. So a few threads beyond the limit take lanes and never items.
// Invariant: as long as the reserve has a thread that does not itself wait, and fewer workers are
// active than allowed, a lane in an injector gets a thread at once, however many items wait.
// Lanes whose items wait for long may take the whole reserve. Then lanes get threads from the
// monitor, as items do, and at the final limit of threads the reserve grows. There is room for that
// if the reserve was taken before the other threads were made: its threads in use count against
// their limit, so those do not fill the pool to the last record. Half of the limit is theirs in any
// case, or two lanes that wait could keep a pool of two threads from an item.
// A worker of the reserve is counted only between a wake-up and its next sleep, by the transitions
// of an external worker (Pool+ExternalWorker): joined as a searcher, then active, then left. So it
// takes part in the sleep/wake protocol as any searcher: submitters wake no other worker while it
// comes, and its exchange that leaves the counts precedes a scan.
import CGrandCentralLinux

/// The workers of the reserve. Guarded by the pool's idle lock.
struct LaneReserve {
  /// Those that sleep.
  var idle: [Worker] = []
  /// How many have a thread.
  var threads = 0
  /// How many run or wait in a lane, or come for one.
  var inUse: Int { threads - idle.count }
}

extension Pool.Configuration {
  /// The maximum number of threads in the reserve. More than one, since the item of a lane may
  /// itself wait for a lane; few, since with all other workers they must fit in the ten bits that
  /// `bandUse` has for each band.
  var maxReserve: Int { min(maxThreads, max(4, min(width, 16))) }
}

extension Pool {
  /// Wakes or starts a worker of the reserve, if a lane waits and fewer workers are active than
  /// allowed: not for urgent work beyond that, since `serveLanes()` takes none there, and would
  /// rest and be woken again. Called if there is no other thread. Never blocks for long.
  @inline(never)
  func wakeReserve() {
    guard hints.waiting.hasLanes || callerHasLanes else { return }
    if let chosen = chooseReserve(allowance: allowance) { rouse(chosen) }
  }

  /// Whether the local queue of the calling worker has a lane: the worker may be about to wait.
  private var callerHasLanes: Bool {
    guard let raw = currentThread().pointee.worker else { return false }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef {
      $0.pool === self && !$0.lanes.isEmpty
    }
  }

  /// Counts an idle worker of the reserve, or one that gets a thread, as a searcher; `nil`: there
  /// is none, or the allowance is in use.
  func chooseReserve(allowance: Int) -> (worker: Worker, isNew: Bool)? {
    let mayStart = !isRefused
    return idleLock.withLock {
      let isNew = laneReserve.idle.isEmpty
      guard !isNew || mayStart && mayGrowReserve,
        changeIfApplicable({ $0.joined(allowance: allowance, isSearching: true) })
      else { return nil }
      guard isNew else { return (laneReserve.idle.removeLast(), false) }
      laneReserve.threads += 1
      let worker = freeWorkers.popLast() ?? makeWorker()
      worker.isInReserve = true
      return (worker, true)
    }
  }

  /// Whether the reserve, of which no thread is idle, may have one more. Requires the idle lock.
  private var mayGrowReserve: Bool {
    if laneReserve.threads < configuration.maxReserve { return hasFreeRecord }
    return state.load(ordering: .relaxed).threads >= configuration.maxThreads && hasFreeRecord
  }

  /// Whether one more thread may exist at all. Requires the idle lock.
  var hasFreeRecord: Bool {
    let records = workerCount.load(ordering: .relaxed) - freeWorkers.count - externalWorkers
    return records < configuration.maxThreads + configuration.maxReserve
  }

  /// The number of counted threads below which one more may be made that also takes items, where
  /// `limit` and the final limit are theirs; 0: the system refuses threads. Requires the idle lock.
  func maxThreads(upTo limit: Int) -> Int {
    if isRefused { return 0 }
    let limit = min(configuration.maxThreads, limit)
    return max(limit, min(limit, (configuration.maxThreads + 1) / 2) + laneReserve.inUse)
  }

  /// Drains the lane for which it was sent, and others until none waits or more workers are active
  /// than allowed. Returns false if the thread must end.
  func serveLanes(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.status.store(.running, ordering: .releasing)
    // A child that an item has forked has no other worker.
    while worker.isInReserve {
      guard let node = takeHanded(by: worker) ?? takeLaneInReserve(for: worker) else {
        if restInReserve(worker, thread) { return true }
        continue
      }
      stopSearching(worker)
      // It was sent for one lane of a starved class, not for a turn.
      worker.starvedTurn = nil
      guard run(node, worker, thread) else { return false }
    }
    return runNodes(worker, thread)
  }

  /// Takes a lane from wherever one waits; `nil`: none is visible, or the worker must rest.
  private func takeLaneInReserve(for worker: Worker) -> WorkNode? {
    guard beyondAllowance <= 0 else { return nil }
    _ = nextPick(of: worker)
    return takeLane(for: worker)
  }

  /// Leaves the counts and joins the sleeping part of the reserve. Returns false if the worker
  /// leaves the reserve instead, which has more than it needs; it stays counted.
  func restInReserve(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    let isDismissed = idleLock.withLock {
      guard laneReserve.threads > configuration.maxReserve,
        state.load(ordering: .relaxed).threads <= configuration.maxThreads
      else { return false }
      leaveReserve(worker)
      return true
    }
    if isDismissed { return false }
    ThreadEffects.rest(thread)
    setAway(worker)
    let isSearching = worker.isSearching
    worker.isSearching = false
    idleLock.withLock {
      change { $0.left(isSearching: isSearching) }
      Parker.prepare(thread)
      laneReserve.idle.append(worker)
    }
    enter(.unspecified, worker)
    worker.restName()
    moveHigherNodes(of: worker)
    // The worker's half of the pair in Pool+Park. It may choose this worker again.
    if hasWork() { wakeIfNeeded() }
    return true
  }

  /// Requires the idle lock.
  private func leaveReserve(_ worker: Worker) {
    worker.isInReserve = false
    laneReserve.threads -= 1
  }

  /// Ends a worker of the reserve that was idle for the keep-alive time. Requires the idle lock.
  /// False: a submitter has chosen it.
  func retireFromReserve(_ worker: Worker) -> Bool {
    guard let place = laneReserve.idle.firstIndex(where: { $0 === worker }) else { return false }
    laneReserve.idle.remove(at: place)
    recordIsFree(worker)
    return true
  }

  /// Notes that the worker's thread has ended, or was refused: the next thread may use the record.
  /// Requires the idle lock.
  func recordIsFree(_ worker: Worker) {
    if worker.isInReserve { leaveReserve(worker) }
    worker.threadID.store(0, ordering: .relaxed)
    worker.thread = nil
    freeWorkers.append(worker)
  }
}
