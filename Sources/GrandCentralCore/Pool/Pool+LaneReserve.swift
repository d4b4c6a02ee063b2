// Room: Pool/Pool+LaneReserve. Threads for lanes alone, while all others wait inside items.
// Items may take every thread that the pool may have, and then wait for what a lane does: by
// `sync()` behind an `async()` to the same queue, or for a semaphore that an item of the queue
// signals. Until the monitor adds a thread, no thread is left for that lane; at the final limit
// none ever is, and the program hangs. A thread that also takes items does not help for long, since
// the next item fills it as well. So a few threads beyond the limit take lanes and never items.
// Invariant: as long as the reserve has a thread that does not itself wait, and fewer workers are
// active than allowed, a lane in an injector gets a thread at once, however many items wait.
// Lanes whose items wait for long may take the whole reserve; then lanes get threads from the
// monitor, as items do.
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
    guard hints.waiting.hasLanes else { return }
    let allowed = allowance
    let mayStart = !isRefused
    let chosen: (worker: Worker, isNew: Bool)? = idleLock.withLock {
      let isNew = laneReserve.idle.isEmpty
      guard !isNew || mayStart && laneReserve.threads < configuration.maxReserve,
        changeIfApplicable({ $0.joined(allowance: allowed, isSearching: true) })
      else { return nil }
      guard isNew else { return (laneReserve.idle.removeLast(), false) }
      laneReserve.threads += 1
      let worker = freeWorkers.popLast() ?? makeWorker()
      worker.isInReserve = true
      return (worker, true)
    }
    if let chosen { rouse(chosen) }
  }

  /// Drains lanes until none waits, or more workers are active than allowed. Returns false if the
  /// thread must end.
  func serveLanes(_ worker: Worker, _ thread: ThreadContext) -> Bool {
    worker.status.store(.running, ordering: .releasing)
    // A child that an item has forked has no other worker.
    while worker.isInReserve {
      guard beyondAllowance <= 0, let node = takeLaneInReserve(for: worker) else {
        restInReserve(worker, thread)
        return true
      }
      stopSearching(worker)
      guard run(node, worker, thread) else { return false }
    }
    return runUntilIdle(worker, thread)
  }

  /// Takes a lane from wherever one waits; `nil`: none is visible.
  private func takeLaneInReserve(for worker: Worker) -> WorkNode? {
    _ = nextPick(of: worker)
    return takeLane(for: worker)
  }

  /// Leaves the counts and joins the sleeping part of the reserve.
  func restInReserve(_ worker: Worker, _ thread: ThreadContext) {
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
    // The worker's half of the pair in Pool+Park. It may choose this worker again.
    if hasWork() { wakeIfNeeded() }
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
    if worker.isInReserve {
      worker.isInReserve = false
      laneReserve.threads -= 1
    }
    worker.threadID.store(0, ordering: .relaxed)
    worker.thread = nil
    freeWorkers.append(worker)
  }
}
