// Room: Pool/Pool+ExternalWorker. External workers: threads that wait elsewhere and run the work
// they bring. The poller's threads are external workers. Work that an event makes ready runs on the
// thread that received the event, without a wake-up in between, if a CPU is free. An external
// worker has a worker's record, so it has local queues that others steal from and a status that the
// monitor reads. While it waits it is not counted, and no thread wakes it for other work. What it
// puts into its local queues while it delivers wakes no other worker, because it takes that next;
// when it takes its first node and there is more, it wakes one. It leaves as soon as its local
// queues are empty: it leaves the counts, then scans (Pool+Park.swift). If it sees work, it comes
// back once as a searcher; the next time it leaves, or if it may not come back, it wakes a worker.
// So a thread that receives one event after another changes the counts twice for each.
import CGrandCentralLinux

extension Pool {
  /// The maximum number of external workers.
  static var maxExternalWorkers: Int { 4 }

  /// Makes the record of an external worker, which lives as long as the pool. Any thread; the
  /// number of calls is limited as above.
  func makeExternalWorker(named name: String) -> Worker {
    idleLock.withLock {
      externalWorkers += 1
      return makeWorker(externalWorker: name)
    }
  }

  /// Runs the closure, and then nodes until there are none, on the calling thread. The closure may
  /// submit, and must not sleep. Returns false, without calling it, if no CPU is free.
  func runInline(as externalWorker: Worker, on thread: ThreadContext, deliver: () -> Void) -> Bool {
    let allowed = allowance
    guard changeIfApplicable({ $0.joined(allowance: allowed, isSearching: false) }) else {
      return false
    }
    let now = Clock.coarseNanoseconds()
    externalWorker.name.received(at: now)
    externalWorker.status.store(.running, ordering: .releasing)
    thread.pointee.worker = Unmanaged.passUnretained(externalWorker).toOpaque()
    // Before the thread shows the label of a queue: its record keeps its name.
    BlackBox.noteAwake(thread, at: now)
    externalWorker.isDelivering = true
    // A lane that gave way here was the last of its nodes, perhaps.
    gc_gave_way(thread)
    deliver()
    externalWorker.isDelivering = false
    // What it has brought lies in its local queue, where others look last. So the first node does
    // not ask whether the allowance has shrunk meanwhile.
    var first = take(for: externalWorker)
    if externalWorker.hasLocalWork { wakeIfNeeded() }
    repeat {
      while let node = first ?? takeNext(for: externalWorker) {
        first = nil
        stopSearching(externalWorker)
        ThreadEffects.apply(externalWorker.band, on: thread)
        grandCentralWorkerActive(node, externalWorker, thread)
        if externalWorker.status.load(ordering: .relaxed) != .running { comeBack(externalWorker) }
      }
    } while !leave(externalWorker, thread)
    thread.pointee.worker = nil
    return true
  }

  /// Leaves the counts if the worker has found no work, or if too many workers are active. Returns
  /// false, and the worker continues, if neither is so any more, or if there is work to search for.
  private func leave(_ externalWorker: Worker, _ thread: ThreadContext) -> Bool {
    ThreadEffects.rest(thread)
    setAway(externalWorker)
    let (allowed, isSearching) = (allowance, externalWorker.isSearching)
    // Only beyond the allowance does it leave with work in its local queues, for others to steal.
    let isDone = isSearching || !externalWorker.hasLocalWork
    let hasLeft = changeIfApplicable {
      isDone ? $0.left(isSearching: isSearching) : $0.steppedOut(allowance: allowed)
    }
    // The scan is the worker's half of the pair in Pool+Park.swift.
    let seesWork = hasLeft && hasWork()
    // A searcher does not come back: what it sees it could not take.
    let isBack =
      seesWork && isDone && !isSearching
      && changeIfApplicable { $0.joined(allowance: allowed, isSearching: true) }
    externalWorker.isSearching = isBack
    if !hasLeft || isBack {
      externalWorker.status.store(.running, ordering: .releasing)
      return false
    }
    enter(.unspecified, externalWorker)
    externalWorker.showPlainName()
    BlackBox.noteIdle(thread)
    moveHigherNodes(of: externalWorker)
    if seesWork { wakeIfNeeded() }
    return true
  }
}
