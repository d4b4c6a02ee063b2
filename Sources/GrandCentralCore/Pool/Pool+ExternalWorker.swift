// Room: Pool/Pool+ExternalWorker. External workers: threads that wait elsewhere and run the work
// they bring. The poller's threads are external workers. Work that an event makes ready runs on the
// thread that received the event, without a wake-up in between, if a CPU is free. An external
// worker has a worker's record, so it has local queues that others steal from and a status that the
// monitor reads. While it waits it is not counted, and no thread wakes it for other work. It enters
// as a woken worker does, searching, so that the work it brings wakes no other worker; when it
// takes its first node and there is more, it wakes the next worker. It leaves as a worker that
// steps back: it leaves the counts, then scans once more (Pool+Park.swift), and wakes a worker if
// it sees work.

extension Pool {
  /// The maximum number of external workers.
  static var maxExternalWorkers: Int { 4 }

  /// Makes the record of an external worker, which lives as long as the pool. Any thread; the
  /// number of calls is limited as above.
  func makeExternalWorker(named name: String) -> Worker {
    idleLock.withLock { makeWorker(externalWorker: name) }
  }

  /// Runs the closure, and then nodes until there are none, on the calling thread. The closure may
  /// submit, and must not sleep. Returns false, without calling it, if no CPU is free.
  func runInline(as externalWorker: Worker, on thread: ThreadContext, deliver: () -> Void) -> Bool {
    let allowed = allowance
    guard changeIfApplicable({ $0.joined(allowance: allowed) }) else { return false }
    externalWorker.isSearching = true
    let now = Clock.coarseNanoseconds()
    externalWorker.name.received(at: now)
    externalWorker.status.store(.running, ordering: .releasing)
    thread.pointee.worker = Unmanaged.passUnretained(externalWorker).toOpaque()
    // Before the thread shows the label of a queue: its record keeps its name.
    BlackBox.noteAwake(thread, at: now)
    deliver()
    // What it has brought lies in its local queue, where others look last. So the first node does
    // not ask whether the allowance has shrunk meanwhile.
    var first = take(for: externalWorker)
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
  /// false, and changes nothing, if neither is so any more.
  private func leave(_ externalWorker: Worker, _ thread: ThreadContext) -> Bool {
    ThreadEffects.rest(thread)
    setAway(externalWorker)
    let (allowed, isSearching) = (allowance, externalWorker.isSearching)
    let hasLeft = changeIfApplicable { isSearching ? $0.left() : $0.steppedOut(allowance: allowed) }
    guard hasLeft else {
      externalWorker.status.store(.running, ordering: .releasing)
      return false
    }
    externalWorker.isSearching = false
    enter(.unspecified, externalWorker)
    externalWorker.showPlainName()
    BlackBox.noteIdle(thread)
    // The worker's half of the pair in Pool+Park.swift. Others steal what is in its local queues.
    if hasWork() { wakeIfNeeded() }
    return true
  }
}
