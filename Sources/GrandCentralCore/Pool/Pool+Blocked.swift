// Room: Pool/Pool+Blocked. What the pool does when the item of a worker sleeps.
// Our own waits announce themselves: the worker is no longer counted active, and another one is woken if
// there is work. When it goes on there may be one too many; whoever finishes an item next steps back.

/// The door through which every wait of the engine sleeps.
enum Blocking {
  /// Runs `body`, which may sleep, and lets another worker take this one's place meanwhile.
  @inline(never)
  static func announced<Result>(_ thread: ThreadContext, _ body: () -> Result) -> Result {
    guard let raw = thread.pointee.worker else { return body() }
    // SAFETY: the thread of a worker keeps its pool, which keeps its workers.
    let worker = Unmanaged<Worker>.fromOpaque(raw).takeUnretainedValue()
    // An announced wait inside another one is part of it.
    guard worker.pool.announce(worker) else { return body() }
    defer { worker.pool.comeBack(worker) }
    return body()
  }
}

extension Pool {
  /// The worker's item is about to sleep. False: it has said so already.
  fileprivate func announce(_ worker: Worker) -> Bool {
    switch worker.status.exchange(.announced, ordering: .relaxed) {
    case .announced: return false
    // The monitor was mistaken, or right a moment too early; the worker is counted asleep as it is.
    case .uncounted: return true
    case .running, .away:
      change { $0.blocked() }
      if hasWork() { wakeIfNeeded() }
      return true
    }
  }

  /// The worker's item goes on, or has ended.
  func comeBack(_ worker: Worker) {
    if worker.status.exchange(.running, ordering: .relaxed) != .running {
      change { $0.unblocked() }
      worker.shrankRefill()
    }
  }
}
