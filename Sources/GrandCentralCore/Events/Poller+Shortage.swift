// Room: Events/Poller+Shortage. What happens when the system refuses the poller a descriptor, memory or a thread.
// Nothing is lost: what was asked for stays asked for. A thread of the poller tries again every ten milliseconds,
// until nothing is lacking. While the set itself cannot be had it sleeps by the clock instead of waiting, and timers,
// which need no descriptor to know what is due, go on by that. Without any thread, whoever sleeps in a wait of the
// engine tries to make one (Primitives/Vigil).
// The set has a bell, so that a thread which already waits in it hears that something is lacking.

/// Somebody who could not get something from the system.
protocol Lacking: AnyObject, Sendable {
  /// A thread of the poller, every few milliseconds, holding no lock. Returns whether nothing is lacking any more.
  func tryAgain(on thread: ThreadContext) -> Bool
}

extension Poller {
  static var retryMilliseconds: Int32 { 10 }

  /// There is something to wait for: makes the set and the thread, if they are not there. Returns the set, or a
  /// negative errno if it cannot be had for now; whoever needs it calls `lack`.
  func prepare() -> Int32 {
    let seen = set.load(ordering: .acquiring)
    if seen >= 0 && threads.load(ordering: .relaxed) > 0 { return seen }
    let made = seen >= 0 ? seen : makeSet()
    if threads.load(ordering: .acquiring) == 0 {
      if pool.isRefused { pool.keepVigil(for: self) } else { startThread() }
    }
    return made
  }

  private func makeSet() -> Int32 {
    lock.withLock {
      let seen = set.load(ordering: .relaxed)
      if seen >= 0 { return seen }
      let made = ReadinessSet.make()
      let bell = made >= 0 ? Doorbell.make() : -1
      if bell >= 0, ReadinessSet.add(made, bell, .readable, .edge, key: Self.bellKey) == 0 {
        self.bell = bell
        set.store(made, ordering: .releasing)
        return made
      }
      // At least 1, whoever refused: what is returned must be negative.
      let error = max(errno, 1)
      if bell >= 0 { close(bell) }
      if made >= 0 { close(made) }
      reportShortage(error)
      isShort.store(true, ordering: .releasing)
      return -error
    }
  }

  /// `who` is to be tried again until nothing is lacking. Any thread, holding no lock of the poller's.
  func lack(_ who: any Lacking, error: Int32) {
    let bell = lock.withLock {
      if !lacking.contains(where: { $0 === who }) { lacking.append(who) }
      shortages &+= 1
      isShort.store(true, ordering: .releasing)
      return self.bell
    }
    reportShortage(error)
    if bell >= 0 { Doorbell.ring(bell) }
    _ = prepare()
  }

  func tryAgain(on thread: ThreadContext) {
    guard makeSet() >= 0 else {
      // Timers go on without: they say what is due when they are tried.
      for who in lock.withLock({ lacking }) { _ = who.tryAgain(on: thread) }
      return
    }
    for who in lock.withLock({ lacking }) {
      let before = lock.withLock { shortages }
      guard who.tryAgain(on: thread) else { continue }
      // What somebody came to lack meanwhile, perhaps the same one, was not asked for in that: the next time decides.
      lock.withLock {
        if shortages == before { lacking.removeAll { $0 === who } }
      }
    }
    lock.withLock { isShort.store(!lacking.isEmpty, ordering: .relaxed) }
  }

  private func reportShortage(_ error: Int32) {
    guard !hasReported.exchange(true, ordering: .relaxed) else { return }
    report(
      .eventsRefused,
      """
      GRAND CENTRAL: The system refused what events need (errno \(error); epoll_create(2), epoll_ctl(2), \
      timerfd_create(2), eventfd(2), pidfd_open(2), inotify_add_watch(2)). It is asked again every \(Self.retryMilliseconds) ms; \
      until then events come late.
      Raise the limit on open files (ulimit -n), /proc/sys/fs/epoll/max_user_watches or \
      max_user_watches and max_user_instances in /proc/sys/fs/inotify, or close what is not needed.
      """)
  }

  // MARK: Threads

  /// One more, unless there are enough.
  func startThread() {
    let number = threads.load(ordering: .relaxed)
    guard number < Self.mostThreads,
      threads.compareExchange(
        expected: number, desired: number + 1, ordering: .acquiringAndReleasing
      ).exchanged
    else { return }
    let own = number == 0 ? first : second
    let start = Unmanaged.passRetained(
      PollerStart(
        poller: self, own: own, guest: guest(of: own, number),
        blocked: pool.configuration.readBlockedSignals()))
    let error = pool.spawn(
      { argument in
        // SAFETY: the reference passed below, owned by this thread.
        let start = Unmanaged<PollerStart>.fromOpaque(argument.unsafelyUnwrapped)
          .takeRetainedValue()
        start.run()
        return nil
      }, start.toOpaque(), stackBytes: 0)
    if error == 0 { return Vigil.end(self) }
    start.release()
    threads.wrappingSubtract(1, ordering: .releasing)
    // A second thread is a matter of speed; it is asked for again at the next event.
    if number == 0 { pool.keepVigil(for: self) }
    pool.reportRefusal(error)
  }

  /// The record of that thread, also when it is asked for again.
  private func guest(of own: PollerThread, _ number: UInt32) -> Worker {
    lock.withLock {
      let guest = own.guest ?? pool.makeGuest(named: "gc-events-\(number)")
      own.guest = guest
      return guest
    }
  }
}

private final class PollerStart {
  let poller: Poller
  let own: PollerThread
  let guest: Worker
  let blocked: UInt64?

  init(poller: Poller, own: PollerThread, guest: Worker, blocked: UInt64?) {
    self.poller = poller
    self.own = own
    self.guest = guest
    self.blocked = blocked
  }

  func run() {
    let thread = currentThread()
    // Until it waits for the first time.
    ForkGate.enter(thread)
    own.isStarting = true
    nameThread(guest.plainName)
    // Children of handlers inherit the thread's mask, so it must be the program's.
    if let blocked { setBlockedSignals(blocked) }
    if poller.pool.configuration.hasEffects {
      ThreadEffects.adopt(thread, isReplaceable: false)
    }
    guest.thread = thread
    guest.threadID.store(thread.pointee.tid, ordering: .relaxed)
    poller.run(own, as: guest)
  }
}

extension Poller: Vigilant {
  func attend() {
    guard threads.load(ordering: .acquiring) == 0 else { return Vigil.end(self) }
    if !pool.isRefused { startThread() }
  }
}
