// Room: Events/Signals. Signals that sources listen to, whichever thread they are delivered to.
// No thread's mask is touched, so children start with the program's own. The first source of a signal installs a
// handler, which counts the delivery and rings a bell that all signals share (CLinux/Signals.c); the last source to
// leave puts back what was there before. A thread of the poller hears the bell, takes the counts, and gives each
// count to every source of that signal.
// Not signalfd(2): it reports what is blocked in all threads, and threads that the program makes itself are not ours
// to change; and of real-time signals beside others it would take what sigwait(3) elsewhere is to have.
// A count is taken under the lock, and a source that joins takes what is there first, for those that were there
// before it: so each source hears of exactly the deliveries between its joining and its leaving.
// The actions are the process's, so one of these has them: that of `Events.shared`.

/// Who listens: a source.
protocol SignalListener: AnyObject, Sendable {
  /// Outside of all locks; any thread. Must not sleep.
  func signalCame(times count: UInt64, on thread: ThreadContext)
}

/// What one source wants to know.
final class SignalEntry: @unchecked Sendable {
  let number: Int32
  /// Weakly: a source that nobody holds any more is not kept by its signal.
  weak var listener: (any SignalListener)?

  init(_ number: Int32) { self.number = number }
}

final class Signals: ReadinessReceiver, @unchecked Sendable {
  private let poller: Poller
  private let lock = Lock()
  /// Guarded by the lock. A signal without entries has no key.
  @Cell private var entries: [Int32: [SignalEntry]] = [:]
  /// The descriptor; -1 before there is one.
  @Cell private var bell: Int32 = -1

  init(poller: Poller) { self.poller = poller }

  /// `entry` hears of deliveries from now on. Any thread.
  func join(_ entry: SignalEntry, on thread: ThreadContext) {
    var told: [Told] = []
    let isReady = lock.withLock {
      if entries[entry.number] == nil {
        let error = SignalActions.install(entry.number)
        invariant(error == 0, "sigaction(2) refused signal \(entry.number): errno \(error).")
      } else {
        take(entry.number, into: &told)
      }
      entries[entry.number, default: []].append(entry)
      return bell >= 0
    }
    tell(told, on: thread)
    if !isReady { makeBell() }
  }

  /// `entry` hears nothing any more, but for what a thread is just about to tell. Any thread, any number of times.
  func leave(_ entry: SignalEntry) {
    lock.withLock {
      guard let place = entries[entry.number]?.firstIndex(where: { $0 === entry }) else { return }
      entries[entry.number]?.remove(at: place)
      guard entries[entry.number]?.isEmpty == true else { return }
      entries[entry.number] = nil
      SignalActions.uninstall(entry.number)
    }
  }

  // MARK: Deliveries

  private typealias Told = (listener: any SignalListener, count: UInt64)

  /// With the lock held.
  private func take(_ number: Int32, into told: inout [Told]) {
    let count = SignalActions.take(number)
    if count == 0 { return }
    for entry in entries[number] ?? [] {
      if let listener = entry.listener { told.append((listener, count)) }
    }
  }

  /// Listeners are let go of outside the lock, since they may die with it, and leave.
  private func tell(_ told: [Told], on thread: ThreadContext) {
    for (listener, count) in told { listener.signalCame(times: count, on: thread) }
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { tellAll(on: thread) }

  /// In a child that was forked: what the program wants holds there, and the bell is the parent's.
  func forgetAll() {
    lock.withLock {
      for number in entries.keys { SignalActions.uninstall(number) }
      entries = [:]
      if bell >= 0 { close(bell) }
      bell = -1
      SignalActions.setBell(-1)
    }
  }

  private func tellAll(on thread: ThreadContext) {
    var told: [Told] = []
    lock.withLock { for number in entries.keys { take(number, into: &told) } }
    tell(told, on: thread)
  }
}

extension Signals: Lacking {
  /// Without a bell, deliveries are counted all the same.
  private func makeBell() {
    let set = poller.prepare()
    let error = lock.withLock { () -> Int32 in
      if bell >= 0 { return 0 }
      switch poller.open(for: self, in: set, Doorbell.make) {
      case .failure(let refusal): return refusal.number
      case .success(let own): bell = own.descriptor
      }
      SignalActions.setBell(bell)
      // For what was counted before it hung.
      Doorbell.ring(bell)
      return 0
    }
    if error != 0 { poller.lack(self, error: error) }
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    makeBell()
    tellAll(on: thread)
    return lock.withLock { bell >= 0 }
  }
}
