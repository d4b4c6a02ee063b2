// Room: Pool/Pool+Blocked. Replaces a worker whose item sleeps.
// The engine's own waits announce themselves: the worker no longer counts as active, and another
// one wakes if there is work. When the item continues there may be one worker too many; the next
// worker whose item ends steps back.

/// The wrapper through which every wait of the engine sleeps.
enum Blocking {
  /// Runs `body`, which may sleep, and lets another worker run in place of this one meanwhile.
  @inline(never)
  static func announced<Result>(
    _ thread: ThreadContext, _ wait: BoardWait = BoardWait(.none), _ body: () -> Result
  ) -> Result {
    BlackBox.noteWait(of: thread, wait)
    defer { BlackBox.noteEndOfWait(of: thread) }
    let hasTask = TaskNames.noteSleep(of: thread)
    defer { if hasTask { TaskNames.clear(thread) } }
    guard let raw = thread.pointee.worker else { return body() }
    // SAFETY: the thread of a worker retains its pool, which retains its workers.
    let worker = Unmanaged<Worker>.fromOpaque(raw).takeUnretainedValue()
    // An announced wait inside another one is part of the outer wait.
    guard worker.pool.announce(worker) else { return body() }
    defer { worker.pool.comeBack(worker) }
    return body()
  }
}

extension Pool {
  /// Stops counting a worker whose item is about to sleep; false if it announced that already.
  fileprivate func announce(_ worker: Worker) -> Bool {
    // acquiring: acquires the count of unmark(), from which this thread subtracts itself.
    switch worker.status.exchange(.announced, ordering: .acquiring) {
    case .announced: return false
    // The monitor was wrong, or right a moment too early; the worker is uncounted as it is.
    case .uncounted: return true
    case .running, .away:
      change { $0.blocked() }
      if hasWork() { wakeIfNeeded() }
      return true
    }
  }

  /// Counts a worker again whose item continues or has ended. Its status is not `running`, or was
  /// not a moment ago.
  func comeBack(_ worker: Worker) {
    // Count first: right after the exchange the monitor may mark the worker and subtract it, and
    // the active count must include it by then.
    change { $0.unblocked() }
    // If the monitor was faster, it has counted the worker too.
    // acquiringAndReleasing: releases this count to mark(), and acquires the count of unmark().
    if worker.status.exchange(.running, ordering: .acquiringAndReleasing) == .running {
      change { $0.blocked() }
    }
    worker.itemsSleep()
  }
}
