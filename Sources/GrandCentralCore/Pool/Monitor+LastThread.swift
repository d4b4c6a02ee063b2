// Room: Pool/Monitor+LastThread. Ends a process in which only service threads are left.
// A process ends with its last thread: pthread_exit(3). The monitor and the thread "gc-signals"
// sleep without end, so a process whose main thread has called pthread_exit(3) would outlive its
// last own thread and its last worker. From the end of the main thread on, the monitor looks every
// two seconds whether only these two are left. Then it calls exit(3), as the C library does in the
// last thread of a process.
// Nothing can happen any more by then: no thread submits work, no worker runs it, and a process
// with a timer, a source of the system's events or a channel has a poller, which is a third thread.
// Such a process does not end: from its poller's start on the monitor sleeps without a timer again.
// Nor does one with a thread that this file does not know, such as a sanitizer's.
// Rejected: that the threads end one by one. A thread that comes back to the queues would need new
// ones, and each user of the monitor would have to expect that it ends.
import CGrandCentralLinux

extension Monitor {
  private static var lookNanoseconds: UInt64 { 2_000_000_000 }

  /// Sleeps until the mode is no longer `asleep`.
  func sleep(_ pool: Pool) {
    let asleep = MonitorMode.asleep
    while mode.load(ordering: .relaxed) == asleep {
      // The end of the main thread is published before mainThreadEnds() reads the mode, and here
      // the mode comes first; both are sequentially consistent. So this sees the end, or the
      // monitor is woken.
      guard pool.mayOutliveProgram else {
        _ = futexWait(mode, while: asleep.rawValue)
        continue
      }
      let next = Clock.monotonicNanoseconds() + Self.lookNanoseconds
      let result = futexWait(mode, while: asleep.rawValue, until: .monotonic(nanoseconds: next))
      if result == .timedOut && pool.hasOutlivedProgram { endProcess() }
    }
  }

  /// Lets a sleeping monitor look at the threads from now on. Called by the main thread at its end.
  func mainThreadEnds(_ pool: Pool) {
    // sequentiallyConsistent: see sleep().
    if mode.load(ordering: .sequentiallyConsistent) == .asleep { watch(pool) }
  }

  /// The handlers of atexit(3) may use queues, and get a monitor of their own.
  private func endProcess() {
    if mode.transition(.relaxed, to: { $0.ended() }) { exit(0) }
  }
}

extension Pool {
  /// Whether the main thread has ended, and no poller keeps the process.
  fileprivate var mayOutliveProgram: Bool {
    guard configuration.hasEffects, gc_main_has_ended() else { return false }
    return !(0..<workerCount.load(ordering: .acquiring)).contains {
      worker(at: $0)?.isExternal == true
    }
  }

  /// Whether the main thread, which has ended, the monitor and "gc-signals" are the only threads.
  fileprivate var hasOutlivedProgram: Bool {
    let service: UInt64 = gc_signal_thread_exists() ? 3 : 2
    return !hasWork() && Process.threadState(Process.identifier) == "Z"
      && Process.threadCount == service
  }
}
