// Room: Reactor/Poller+Shortage. Retries what the system refuses: descriptors, memory, threads.
// Invariant: a refused request stays registered until it succeeds, so nothing is lost.
// A poller thread retries every 10 ms until nothing is missing. While the set itself is missing,
// the thread sleeps by the clock instead of waiting in the set. Timers continue then, since they
// need no descriptor to know what is due. If there is no thread at all, threads that sleep in a
// wait of the engine try to make one (ThreadlessRetry). Each time, a worker also looks at the set,
// in place of a poller thread, so events come late but come. The sleeping thread does not look: it
// may hold locks of the program, and the last reference that a delivery releases may run the
// program's code. That code may also wait, so it runs on an active worker, as any item does.
// The set contains a wake-up descriptor, so that a thread in the wait notices a new shortage.

/// An object that needs a resource which the system has refused.
protocol ResourceRetry: AnyObject, Sendable {
  /// Tries again, and returns whether nothing is missing any more. Called every few milliseconds by
  /// a poller thread that holds no lock.
  func tryAgain(on thread: ThreadContext) -> Bool
}

extension Poller {
  static var retryMilliseconds: Int32 { 10 }

  /// Makes the set and the first thread, if they are missing. Returns the set, or a negative errno
  /// if the system refuses it for now; a caller that needs the set then registers for a retry.
  func prepare() -> Int32 {
    let seen = set.load(ordering: .acquiring)
    if seen >= 0 && state.load(ordering: .relaxed).threads > 0 { return seen }
    let made = seen >= 0 ? seen : makeSet()
    if state.load(ordering: .acquiring).threads == 0 {
      if pool.isRefused { beginRetry() } else { startThread() }
    }
    return made
  }

  private func makeSet() -> Int32 {
    lock.withLock {
      let seen = set.load(ordering: .relaxed)
      if seen >= 0 { return seen }
      let made = ReadinessSet.make()
      let wakeDescriptor = made >= 0 ? EventFD.make() : -1
      if wakeDescriptor >= 0,
        ReadinessSet.add(made, wakeDescriptor, .readable, .edge, key: Self.wakeKey) == 0
      {
        self.wakeDescriptor = wakeDescriptor
        if !orphans.haveReplacedSet { firstSet.store(made, ordering: .releasing) }
        set.store(made, ordering: .releasing)
        return made
      }
      // At least 1, because the returned value must be negative.
      let error = max(errno, 1)
      if wakeDescriptor >= 0 { close(wakeDescriptor) }
      if made >= 0 { close(made) }
      reportShortage(error)
      isShort.store(true, ordering: .releasing)
      return -error
    }
  }

  /// Registers `user` for retries until nothing is missing. Any thread without a poller lock.
  func lack(_ user: any ResourceRetry, error: Int32) {
    let wakeDescriptor = lock.withLock {
      if !lacking.contains(where: { $0 === user }) { lacking.append(user) }
      shortages &+= 1
      isShort.store(true, ordering: .releasing)
      return self.wakeDescriptor
    }
    reportShortage(error)
    if wakeDescriptor >= 0 { EventFD.signal(wakeDescriptor) }
    _ = prepare()
  }

  func tryAgain(on thread: ThreadContext) {
    guard makeSet() >= 0 else {
      // Timers continue without the set: each retry fires what is due.
      for user in lock.withLock({ lacking }) { _ = user.tryAgain(on: thread) }
      return
    }
    for user in lock.withLock({ lacking }) {
      let before = lock.withLock { shortages }
      guard user.tryAgain(on: thread) else { continue }
      // A shortage that was registered meanwhile, perhaps by the same object, may have missed this
      // attempt. The next attempt decides.
      lock.withLock {
        if shortages == before { lacking.removeAll { $0 === user } }
      }
    }
    lock.withLock { isShort.store(!lacking.isEmpty, ordering: .relaxed) }
  }

  private func reportShortage(_ error: Int32) {
    guard !hasReported.exchange(true, ordering: .relaxed) else { return }
    report(
      .eventsRefused,
      """
      GRAND CENTRAL: The system refused what events need (errno \(error); epoll_create(2), \
      epoll_ctl(2), \
      timerfd_create(2), eventfd(2), pidfd_open(2), inotify_add_watch(2)). It is asked again every \
      \(Self.retryMilliseconds) ms; \
      until then events come late.
      Raise the limit on open files (ulimit -n), /proc/sys/fs/epoll/max_user_watches or \
      max_user_watches and max_user_instances in /proc/sys/fs/inotify, or close what is not needed.
      """)
  }

  // MARK: Threads

  /// Starts one more thread, unless there are enough.
  func startThread() {
    guard let number = state.transition({ $0.starting() }) else { return }
    // A program may have sources and no other work: then this is its first thread.
    BlackBox.open()
    let own = number == 0 ? first : second
    let start = Unmanaged.passRetained(
      PollerStart(poller: self, own: own, externalWorker: externalWorker(of: own, number)))
    let error = pool.spawn(
      { argument in
        // SAFETY: the reference passed below, owned by this thread.
        let start = Unmanaged<PollerStart>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        start.run()
        return nil
      }, start.toOpaque(), stackBytes: 0)
    if error == 0 { return ThreadlessRetry.end(self) }
    start.release()
    // A second thread only adds speed; the next event tries again.
    if state.transition({ $0.refused(number) }) == true { beginRetry() }
    pool.reportRefusal(error)
  }

  /// The thread that worked under that record ends inside a handler. Another one is started.
  func threadEnds(_ externalWorker: Worker) {
    let number: UInt32? = lock.withLock {
      if first.externalWorker === externalWorker { return 0 }
      return second.externalWorker === externalWorker ? 1 : nil
    }
    // A child that was forked in the handler has no such thread.
    guard let number else { return }
    // The next thread's context may have the address of this one's.
    (number == 0 ? first : second).context.store(0, ordering: .relaxed)
    state.transition { $0.refused(number) }
    startThread()
  }

  /// Begins to retry without a thread, unless that has begun.
  private func beginRetry() {
    if pool.retryWithoutThread(for: self) { pool.wakeIdleWorkers() }
  }

  /// Returns the pool's record of that thread, the same one at each attempt.
  private func externalWorker(of own: PollerThread, _ number: UInt32) -> Worker {
    lock.withLock {
      let externalWorker =
        own.externalWorker ?? pool.makeExternalWorker(named: "gc-events-\(number)")
      own.externalWorker = externalWorker
      return externalWorker
    }
  }
}

private final class PollerStart {
  let poller: Poller
  let own: PollerThread
  let externalWorker: Worker

  init(poller: Poller, own: PollerThread, externalWorker: Worker) {
    self.poller = poller
    self.own = own
    self.externalWorker = externalWorker
  }

  func run() {
    let thread = currentThread()
    own.beginFirstSteps(of: thread)
    nameThread(externalWorker.plainName)
    if poller.pool.configuration.hasEffects {
      ThreadEffects.adopt(thread, isReplaceable: false)
    }
    externalWorker.thread = thread
    externalWorker.threadID.store(thread.pointee.tid, ordering: .relaxed)
    poller.run(own, as: externalWorker)
  }
}

extension Poller: ThreadlessRetrying {
  private var hasThread: Bool { state.load(ordering: .acquiring).threads > 0 }

  func retry() {
    if hasThread {
      ThreadlessRetry.end(self)
      // That thread was perhaps in the making. If it was refused before the retry ended here, the
      // refused one's begin() had no effect. The lock of the retriers orders its state before ours.
      if !hasThread { beginRetry() }
      return
    }
    if !pool.isRefused { startThread() }
    if !hasThread { submitLook(from: currentThread()) }
  }

  /// Submits one look at the set, unless one waits already or there is no worker.
  private func submitLook(from thread: ThreadContext) {
    // relaxed: a look that runs at this moment may miss an event; the next retry submits another.
    guard pool.state.load(ordering: .relaxed).threads > 0,
      !isLookSubmitted.exchange(true, ordering: .relaxed)
    else { return }
    let node = WorkNode.function(
      { context in
        // SAFETY: the reference passed below, owned by this item.
        let poller = Unmanaged<Poller>.fromOpaque(context.unsafelyUnwrapped).takeRetainedValue()
        poller.isLookSubmitted.store(false, ordering: .relaxed)
        poller.lookOnce(on: currentThread())
      }, Unmanaged.passRetained(self).toOpaque(), on: thread)
    // What the events make ready has classes of its own.
    node.traits = WorkTraits(qos: .unspecified)
    // As from a thread outside the pool: another thread may choose this worker, which sleeps, and
    // then owns its local queues.
    let worker = thread.pointee.worker
    thread.pointee.worker = nil
    pool.submit(node, .items, band: .userInteractive, from: thread)
    thread.pointee.worker = worker
  }

  /// Delivers what has come, without waiting. Runs as an item of a worker.
  private func lookOnce(on thread: ThreadContext) {
    if hasThread { return }
    if isShort.load(ordering: .acquiring) { tryAgain(on: thread) }
    let set = set.load(ordering: .acquiring)
    if set < 0 { return }
    var batch = EventBatch()
    defer { batch.deallocate() }
    let count = look(at: set, into: batch.events, milliseconds: 0)
    findReceivers(of: count, in: &batch, on: thread)
    batch.deliver(on: thread)
  }
}
