// Room: Pool/Pool+Guest. Threads that wait elsewhere than on the idle stack, and work here when that brings work.
// The poller's threads are such: what an event makes ready runs on the thread that received the event, if a CPU
// is to be had, without a wake-up in between. A guest has a worker's record, so it has rings that others steal
// from and a status that the monitor reads. While it waits it is counted nowhere, and nobody wakes it: the pool
// has its own idle workers for what comes from elsewhere.
// It comes as a woken worker does, searching, so that what it brings wakes no other one; with the first node that
// it finds beside a second it wakes the next. It goes as a worker that steps back does: it leaves the count, and
// then looks once more (Pool+Park.swift), and wakes somebody for what it sees.

extension Pool {
  /// How many there may be.
  static var mostGuests: Int { 4 }

  /// A record for a guest. Called `mostGuests` times at most, by anybody; it lives as long as the pool.
  func makeGuest(named name: String) -> Worker {
    idleLock.withLock { makeWorker(guest: name) }
  }

  /// The calling thread works until there is nothing to do, `bring` first: that may submit, and must not sleep.
  /// False: no CPU is to be had for it, and `bring` was not called.
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

  /// As a worker steps back.
  private func stepOut(_ guest: Worker, _ thread: ThreadContext) -> Bool {
    let allowed = allowance.load(ordering: .relaxed) + extraForNext(of: guest)
    guard state.load(ordering: .relaxed).active > allowed else { return false }
    return leave(guest, thread) { $0.steppedOut(width: allowed) }
  }

  /// False: the transition does not apply any more, and nothing has changed.
  private func leave(
    _ guest: Worker, _ thread: ThreadContext, _ transition: (PoolState) -> PoolState?
  ) -> Bool {
    ThreadEffects.rest(thread)
    // The monitor may have taken it for asleep in the last moment.
    if guest.status.exchange(.away, ordering: .relaxed) == .uncounted { change { $0.unblocked() } }
    guard changeIfApplicable(transition) else {
      guest.status.store(.running, ordering: .relaxed)
      return false
    }
    enter(.unspecified, guest)
    guest.showPlainName()
    // The worker's half of the pair in Pool+Park.swift. What is in its rings is for others to steal.
    if hasWork() { wakeIfNeeded() }
    return true
  }
}
