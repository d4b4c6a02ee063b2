// Room: Sources/Process/ProcessExit. Watches for the exit of one process, for one source.
//   new ─start→ watching ─readable→ over        new ─start, it is gone→ over        any ─stop→ over
// A pidfd names the process, not its number, so the reuse of a number does no harm: pidfd_open(2).
// It becomes readable when all threads of the process have ended, even if it is not a child of this
// one. The status stays for waitpid(2).
// Without a descriptor, because there is none left or a sandbox forbids the call, the process is
// checked at each retry of the poller.

/// A listener: a process source.
protocol ProcessListener: AnyObject, Sendable {
  /// Reports the exit, once. Any thread that holds no lock. Must not sleep.
  func processExited(on thread: ThreadContext)
  /// Stores a change, and does nothing else. Any thread, under a lock.
  func note(_ change: ProcessConnector.Change)
  /// Reports that a change was noted. Any thread that holds no lock. Must not sleep.
  func processChanged(on thread: ThreadContext)
  /// The number of the process to watch.
  var processNumber: pid_t { get }
}

final class ProcessExit: ReadinessReceiver, ResourceRetry, @unchecked Sendable {
  private let process: pid_t
  let poller: Poller
  /// Weak, so that the process does not keep its source alive.
  weak var listener: (any ProcessListener)?
  let lock = Lock()
  /// Guarded by the lock.
  @Cell var descriptor: Int32 = -1
  @Cell var registration: Registration?
  @Cell var isOver = false

  init(_ process: pid_t, poller: Poller) {
    self.process = process
    self.poller = poller
  }

  /// Begins to watch, and may notify the listener at once. Any thread; called once.
  func start(on thread: ThreadContext) { watch(on: thread, isRetry: false) }

  /// Ends all notifications, except one that a thread is about to make. Any thread, any number of
  /// times, also before the start.
  func stop() { _ = end() }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { exited(on: thread) }

  func tryAgain(on thread: ThreadContext) -> Bool { watch(on: thread, isRetry: true) }

  // MARK: Watching

  private enum Outcome {
    case isDone
    case hasExited
    case isThread
    case lacks(Int32)
  }

  /// Returns whether nothing is missing.
  @discardableResult
  private func watch(on thread: ThreadContext, isRetry: Bool) -> Bool {
    let set = poller.prepare()
    let outcome = lock.withLock { set < 0 ? lookWithout(-set) : take() }
    switch outcome {
    case .isDone: return true
    case .hasExited: exited(on: thread)
    case .isThread:
      clientFault(
        "A process source was made for \(process), which is a thread of another process. Pass a process's number."
      )
    case .lacks(let error):
      if isRetry { return false }
      poller.lack(self, error: error)
    }
    return true
  }

  /// Opens a descriptor of the process. The caller holds the lock.
  private func take() -> Outcome {
    if isOver || descriptor >= 0 { return .isDone }
    switch ProcessWatch.open(process) {
    case .isGone: return .hasExited
    case .isThread: return .isThread
    case .refused(let error): return lookWithout(error)
    case .descriptor(let made):
      switch poller.register(self, for: made, .readable, .once) {
      case .failure(let refusal):
        close(made)
        return lookWithout(refusal.number)
      case .success(let own):
        descriptor = made
        registration = own
      }
      return .isDone
    }
  }

  /// Checks the process without a descriptor. The caller holds the lock.
  private func lookWithout(_ error: Int32) -> Outcome {
    if isOver { return .isDone }
    return ProcessWatch.hasExited(process) ? .hasExited : .lacks(error)
  }

  private func exited(on thread: ThreadContext) {
    if end() { listener?.processExited(on: thread) }
  }

  /// Stops watching. Returns whether this call was the first to do so.
  private func end() -> Bool {
    let (isFirst, left): (Bool, Registration?) = lock.withLock {
      if isOver { return (false, nil) }
      isOver = true
      if descriptor >= 0 {
        // A forked child may have the descriptor too, and would keep it in the set.
        if let registration { poller.withdraw(registration) }
        close(descriptor)
      }
      return (true, registration)
    }
    // Outside the lock: this may release the last reference to this object, and the lock with it.
    if let left { poller.unregister(left) }
    return isFirst
  }
}
