// Room: Pool/Pool+Shortage. What happens when the system refuses a thread.
// pthread_create(3) returns EAGAIN at a limit on processes or on memory. Queued work stays queued,
// and these threads try again:
//   a worker        takes queued work when its item ends: with one worker, no work is lost
//   the monitor     at each look while work waits, ever less often, at last every 64 ms. It is made
//                   before it is needed, when a worker first goes idle: later it may be refused
//   an idle worker  stays if it is the last and there is no monitor, or a retry without a thread;
//                   it tries to make the monitor before each further keep-alive period
//   a sleeper       in any wait of the engine, dispatchMain() included, while work waits and there
//                   is no monitor (ThreadlessRetry)
//   a submitter     next to an idle queue, if a millisecond has passed: a refusal costs tens of µs
// So a pool that once had a thread keeps running. One case remains: a process that never got a
// thread, whose own threads all sleep outside the engine, or fell asleep in it before the refusal,
// and never again submit to an idle queue. Its work waits. Only a signal of a timer could end that,
// and signals belong to the program: its system calls would return EINTR, and its masks and
// handlers would interfere.
// Rejected: running the work on the thread that submits or waits. That thread may hold locks of the
// program that the work needs, and no program expects its closures there.

extension Pool: ThreadlessRetrying {
  private static var refusalNanoseconds: UInt64 { 1_000_000 }
  /// How long refusals must last to be reported while a thread will surely ask again.
  private static var reportNanoseconds: UInt64 { 5_000_000 }
  /// Refusals that are further apart have nothing to do with each other. Longer than the monitor's
  /// longest pause.
  private static var longestPauseNanoseconds: UInt64 { 200_000_000 }

  /// Starts a thread with a stack of `stackBytes` (0: the default). Returns 0 or an errno.
  func spawn(_ body: ThreadBody, _ argument: UnsafeMutableRawPointer, stackBytes: Int) -> Int32 {
    if let mask = configuration.readProgramMask() { setProgramMask(mask) }
    let error = ThreadEffects.withoutEffect(on: currentThread()) {
      configuration.spawn(body, argument, stackBytes)
    }
    if error != 0 {
      refusals.wrappingAdd(1, ordering: .relaxed)
      let now = Clock.monotonicNanoseconds()
      // acquiring, releasing: a thread that finds an earlier refusal sees since when.
      let until = refusedUntil.load(ordering: .acquiring)
      if until == 0 || now > until + Self.longestPauseNanoseconds {
        refusedSince.store(now, ordering: .relaxed)
      }
      refusedUntil.store(now + Self.refusalNanoseconds, ordering: .releasing)
    } else if refusedUntil.load(ordering: .relaxed) != 0 {
      refusedUntil.store(0, ordering: .relaxed)
    }
    return error
  }

  /// Whether a thread was refused within the last millisecond, so that a request is pointless.
  var isRefused: Bool {
    let until = refusedUntil.load(ordering: .relaxed)
    return until != 0 && Clock.monotonicNanoseconds() < until
  }

  /// Whether the last request for a thread was refused.
  var isRefusedLately: Bool { refusedUntil.load(ordering: .relaxed) != 0 }

  /// Starts a `ThreadlessRetry` for the pool: work waits, and there is no monitor.
  func retryWithoutThread() { retryWithoutThread(for: self) }

  /// Makes sleeping threads, the main thread too, retry for `retrier`, which got no thread. Returns
  /// false if they do so already.
  @discardableResult
  func retryWithoutThread(for retrier: any ThreadlessRetrying) -> Bool {
    let isNew = ThreadlessRetry.begin(retrier)
    whenRetriesBegin?()
    return isNew
  }

  /// Ends the sleep of all idle workers. Their next sleeps take part in a retry that has just
  /// begun. One of them would not do: it may find a long item, and not sleep again soon.
  func wakeIdleWorkers() {
    var chosen: [(worker: Worker, isNew: Bool)] = []
    // The idle lock orders the two: a worker is on the stack already, or sees the retry when it
    // falls asleep. None comes back while this thread takes the others.
    while let next = choose({ $0.forceWoken(maxThreads: 0) }).1 { chosen.append(next) }
    for next in chosen { rouse(next) }
  }

  func retry() {
    if isRefused { return }
    guard hasWork() else {
      ThreadlessRetry.end(self)
      // A thread may have called begin() while the pool was still registered, to no effect. Its
      // work was published before, so this check sees it and begins again.
      if hasWork() { retryWithoutThread() }
      return
    }
    // A worker before the monitor: if only one thread can be had, a worker is more useful.
    wakeIfNeeded()
    monitor.isThere ? ThreadlessRetry.end(self) : monitor.watch(self)
  }

  /// Reports, once, that threads are refused, and what to do about it. A single refusal is no
  /// reason if the monitor asks again: the kernel refuses each thread of a process in which another
  /// thread has begun execve(2).
  func reportRefusal(_ error: Int32) {
    let since = refusedSince.load(ordering: .relaxed)
    let isAlone = Clock.monotonicNanoseconds() &- since < Self.reportNanoseconds
    if isAlone && monitor.isThere && state.load(ordering: .relaxed).threads > 0 { return }
    guard !reportedRefusal.exchange(true, ordering: .relaxed) else { return }
    let workers = state.load(ordering: .relaxed).threads
    let rest =
      workers > 0
      ? "Work continues on \(workers) worker \(workers == 1 ? "thread" : "threads")."
      : "There is no worker thread: queued work waits, and sync() runs on its caller."
    report(
      .threadRefused,
      """
      GRAND CENTRAL: The system refused a thread (errno \(error), pthread_create(3)). \(rest) It \
      is \
      asked again while work waits.
      Raise the limit on threads (ulimit -u, pids.max of the control group, TasksMax of the \
      systemd \
      unit) or on memory (ulimit -v, memory.max), or bound the threads with GRANDCENTRAL_THREADS.
      """)
  }
}
