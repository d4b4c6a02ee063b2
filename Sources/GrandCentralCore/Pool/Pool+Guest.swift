// Room: Pool/Pool+Guest. External workers: threads that wait elsewhere and run the work they bring.
// The poller's threads are external workers. Work that an event makes ready runs on the thread that
// received the event, without a wake-up in between, if a CPU is free. An external worker has a
// worker's record, so it has local queues that others steal from and a status that the monitor
// reads. While it waits it is not counted, and no thread wakes it for other work.
// It enters as a woken worker does, searching, so that the work it brings wakes no other worker;
// when it takes its first node and there is more, it wakes the next worker. It leaves as a worker
// that steps back: it leaves the counts, then scans once more (Pool+Park.swift), and wakes a worker
// if it sees work.

extension Pool {
  /// The maximum number of external workers.
  static var mostGuests: Int { 4 }

  /// Makes the record of an external worker, which lives as long as the pool. Any thread; the
  /// number of calls is limited as above.
  func makeGuest(named name: String) -> Worker {
    idleLock.withLock { makeWorker(guest: name) }
  }

  /// Runs the closure, and then nodes until there are none, on the calling thread. The closure may
  /// submit, and must not sleep. Returns false, without calling it, if no CPU is free.
  func visit(as guest: Worker, on thread: ThreadContext, bring: () -> Void) -> Bool {
    let allowed = allowance.load(ordering: .relaxed)
    guard changeIfApplicable({ $0.joined(width: allowed) }) else { return false }
    guest.isSearching = true
    guest.name.received()
    guest.status.store(.running, ordering: .relaxed)
    thread.pointee.worker = Unmanaged.passUnretained(guest).toOpaque()
    bring()
    while let node = take(for: guest) {
      stopSearching(guest)
      ThreadEffects.apply(guest.band, on: thread)
      grandCentralWorkerActive(node, guest, thread)
      if guest.status.load(ordering: .relaxed) != .running { comeBack(guest) }
      if state.load(ordering: .relaxed).active > allowance.load(ordering: .relaxed),
        stepOut(guest, thread)
      {
        thread.pointee.worker = nil
        return true
      }
    }
    guest.isSearching = false
    _ = leave(guest, thread) { $0.left() }
    thread.pointee.worker = nil
    return true
  }

  /// Leaves the pool if too many workers are active, as stepBack() does.
  private func stepOut(_ guest: Worker, _ thread: ThreadContext) -> Bool {
    let allowed = allowance.load(ordering: .relaxed) + extraForNext(of: guest)
    guard state.load(ordering: .relaxed).active > allowed else { return false }
    return leave(guest, thread) { $0.steppedOut(width: allowed) }
  }

  /// Leaves the counts. Returns false, and changes nothing, if the transition no longer applies.
  private func leave(
    _ guest: Worker, _ thread: ThreadContext, _ transition: (PoolState) -> PoolState?
  ) -> Bool {
    ThreadEffects.rest(thread)
    // The monitor may have just marked it as asleep.
    if guest.status.exchange(.away, ordering: .relaxed) == .uncounted { change { $0.unblocked() } }
    guard changeIfApplicable(transition) else {
      guest.status.store(.running, ordering: .relaxed)
      return false
    }
    enter(.unspecified, guest)
    guest.showPlainName()
    // The worker's half of the pair in Pool+Park.swift. Others steal what is in its local queues.
    if hasWork() { wakeIfNeeded() }
    return true
  }
}
