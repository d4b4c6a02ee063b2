// Room: Events/ProcessExit. That a process has ended, for one source.
//   new ─start→ watching ─readable→ over        new ─start, it is gone→ over        any ─stop→ over
// A pidfd(2) names the process and not its number, so a number that is given away again misleads nobody. It becomes
// readable when all threads of the process have ended, whoever's child it is; the status stays for who waits for it.
// Without a descriptor, since none is to be had or a sandbox forbids the call, the process is looked at each time that
// the poller tries again.

/// Who is told: a source.
protocol ProcessListener: AnyObject, Sendable {
  /// Once. Outside of all locks; any thread. Must not sleep.
  func processExited(on thread: ThreadContext)
  /// Under a lock; any thread. Remembers it, and does nothing else.
  func note(_ change: ProcessConnector.Change)
  /// Something was noted. Outside of all locks; any thread. Must not sleep.
  func processChanged(on thread: ThreadContext)
  /// For messages.
  var processNumber: pid_t { get }
}

final class ProcessExit: ReadinessReceiver, Lacking, @unchecked Sendable {
  private let process: pid_t
  private let poller: Poller
  /// Weakly: a source that nobody holds any more is not kept by its process.
  weak var listener: (any ProcessListener)?
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var descriptor: Int32 = -1
  @Cell private var registration: Registration?
  @Cell private var isOver = false

  init(_ process: pid_t, poller: Poller) {
    self.process = process
    self.poller = poller
  }

  /// The listener is told from now on, at once perhaps. Any thread; once.
  func start(on thread: ThreadContext) { watch(on: thread, isRetry: false) }

  /// The listener is told nothing any more. Any thread, any number of times, also before the start.
  func stop() { _ = end() }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { exited(on: thread) }

  func tryAgain(on thread: ThreadContext) -> Bool { watch(on: thread, isRetry: true) }

  func afterFork() {
    lock.withLock {
      isOver = true
      registration = nil
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  // MARK: Watching

  private enum Outcome {
    case isDone
    case hasExited
    case isThread
    case lacks(Int32)
  }

  /// Returns whether nothing is lacking.
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

  /// With the lock held.
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

  /// With the lock held.
  private func lookWithout(_ error: Int32) -> Outcome {
    if isOver { return .isDone }
    return ProcessWatch.hasExited(process) ? .hasExited : .lacks(error)
  }

  private func exited(on thread: ThreadContext) {
    if end() { listener?.processExited(on: thread) }
  }

  /// Whether this was the end, and not another one before it.
  private func end() -> Bool {
    let (isFirst, left): (Bool, Registration?) = lock.withLock {
      if isOver { return (false, nil) }
      isOver = true
      if descriptor >= 0 {
        // A forked child may have the descriptor too, and would keep it in the set.
        _ = ReadinessSet.remove(poller.set.load(ordering: .acquiring), descriptor)
        close(descriptor)
      }
      return (true, registration)
    }
    // Outside the lock: this may be let go of with it.
    if let left { poller.unregister(left) }
    return isFirst
  }
}
