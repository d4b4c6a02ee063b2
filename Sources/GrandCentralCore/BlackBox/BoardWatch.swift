// Room: BlackBox/BoardWatch. The thread that looks at this process's own board for observers, which
// Sources/Board adds. It starts when there is both an observer and a board, and ends with the last
// observer.
// After a look, an observer says when it wants the next one. A change of the board brings that look
// forward, but not closer to the last one than the observer's gap. Without a change and without a
// time, the thread sleeps until one comes (WatchSignal), so an idle process is not woken.
// In the gap the thread does not sleep on the signal: a busy process would wake it with each
// change.
// The thread is inside the fork gate but while it sleeps or calls the program. A look uses types
// for the first time at any moment, under locks of the Swift runtime. A child that was forked
// meanwhile would find them held for ever.
import CGrandCentralLinux

/// Looks at the board from time to time, on the watch's thread.
package final class BoardObserver: @unchecked Sendable {
  /// The shortest time between two looks, in nanoseconds.
  let gap: UInt64
  /// Looks, inside the fork gate: it leaves the gate while it sleeps or calls the program. Returns
  /// after how many nanoseconds to look again; `nil`: after the next change.
  let look: @Sendable () -> UInt64?
  // Used by the watch's thread alone.
  fileprivate var earliest: UInt64 = 0
  fileprivate var due: UInt64 = 0

  package init(gap: UInt64, look: @escaping @Sendable () -> UInt64?) {
    self.gap = gap
    self.look = look
  }
}

// SAFETY: the lock guards all that is not atomic.
package final class BoardWatch: @unchecked Sendable {
  let signal = WatchSignal()
  /// Counts the changes of the list, for a thread that sleeps in a gap.
  private let revision = Atomic<UInt32>(0)
  private let lock = Lock()
  private var observers: [BoardObserver] = []
  private var hasThread = false
  /// Whether the environment was asked for an observer: see Sources/Board.
  private var isEnvironmentRead = false

  /// Adds an observer, which first looks at once. Any thread that holds no lock.
  ///
  /// - Returns: 0, or the errno with which the system refuses a thread. The observer stays, and the
  ///   next call tries again.
  package func add(_ observer: BoardObserver) -> Int32 {
    lock.withLock { observers.append(observer) }
    return begin()
  }

  /// Adds the observer that the environment asks for, if any, and starts the thread if needed. Call
  /// when the board has been made. The environment is read once, also for forked children,
  /// which have the parent's observers: under the lock, so that a fork comes before it is read or
  /// after the observer was added.
  ///
  /// - Returns: as add().
  package func begin(withEnvironment read: () -> BoardObserver?) -> Int32 {
    lock.withLock {
      if isEnvironmentRead { return }
      isEnvironmentRead = true
      if let observer = read() { observers.append(observer) }
    }
    return begin()
  }

  /// Removes an observer. It may be looking meanwhile, and does not look again.
  package func remove(_ observer: BoardObserver) {
    lock.withLock { observers.removeAll { $0 === observer } }
    wake()
  }

  /// Starts the thread if it is needed. Call when the board has been made.
  ///
  /// - Returns: 0, or an errno.
  @discardableResult
  package func begin() -> Int32 {
    // Whichever comes second, add() or the making of the board, sees both the observer and the
    // board.
    guard BlackBox.start != nil else { return 0 }
    let isNeeded = lock.withLock {
      if observers.isEmpty || hasThread { return false }
      hasThread = true
      return true
    }
    guard isNeeded else {
      wake()
      return 0
    }
    // As for a worker: a handler may start a child.
    if let mask = Process.mainThreadBlockedSignals() { setProgramMask(mask) }
    let error = startThread(
      { argument in
        // SAFETY: the watch belongs to BlackBox.shared, which never ends.
        Unmanaged<BoardWatch>.fromOpaque(argument.unsafelyUnwrapped).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque(), stackBytes: 0)
    if error != 0 { lock.withLock { hasThread = false } }
    return error
  }

  /// Makes the thread look at the list of observers.
  private func wake() {
    // relaxed: the list is under the lock.
    revision.wrappingAdd(1, ordering: .relaxed)
    futexWake(revision)
    signal.noteChange()
  }

  /// Notes that there is no thread: with the lock held, or in a forked child, where the observers
  /// continue with the child's own board.
  func noteThreadEnd() {
    hasThread = false
    signal.remove()
  }

  // MARK: The thread

  private func run() {
    let thread = currentThread()
    ForkGate.inside(thread) {
      nameThread(ThreadName("gc-watch"))
      ThreadEffects.adopt(thread, isReplaceable: false)
      watch(on: thread)
    }
  }

  /// Looks until there are no observers. Inside the fork gate.
  private func watch(on thread: ThreadContext) {
    let home = HomeProcess()
    // The first look is at everything: changes before this thread began were not noted.
    var isFirst = true
    while true {
      let seen = revision.load(ordering: .relaxed)
      signal.beginLook()
      guard let current = observersOrEnd() else { return }
      var now = Clock.monotonicNanoseconds()
      for observer in current where isFirst || observer.due <= now {
        let pause = observer.look()
        // A handler of the program has forked: the child's board gets a thread of its own.
        guard home.isCurrent else { return }
        now = Clock.monotonicNanoseconds()
        observer.earliest = now + observer.gap
        observer.due = pause.map { now + max($0, observer.gap) } ?? .max
        // Once more: a thread may have written its record and loaded the signal's `none` while its
        // CPU still kept the record in its store buffer, which empties within microseconds.
        if isFirst { observer.due = observer.earliest }
      }
      isFirst = false
      let due = Self.deadline(current.map(\.due).min() ?? .max)
      if sleep(thread, { signal.sleep(until: due) }) { continue }
      // Something changed: look as soon as the gap allows.
      for observer in current { observer.due = min(observer.due, observer.earliest) }
      let next = Deadline.monotonic(nanoseconds: current.map(\.due).min() ?? 0)
      sleep(thread) {
        while revision.load(ordering: .relaxed) == seen,
          futexWait(revision, while: seen, until: next) != .timedOut
        {}
      }
    }
  }

  /// Leaves the fork gate while the thread sleeps in `body`.
  private func sleep<Result>(_ thread: ThreadContext, _ body: () -> Result) -> Result {
    ForkGate.outside(thread, body)
  }

  private static func deadline(_ time: UInt64) -> Deadline? {
    time == .max ? nil : .monotonic(nanoseconds: time)
  }

  /// The observers; `nil`: there are none, and the calling thread is the watch's no longer.
  private func observersOrEnd() -> [BoardObserver]? {
    lock.withLock {
      if observers.isEmpty {
        noteThreadEnd()
        return nil
      }
      return observers
    }
  }
}
