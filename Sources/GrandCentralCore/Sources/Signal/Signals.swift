// Room: Sources/Signal/Signals. Counts signals for sources, whichever thread a signal is delivered
// to.
// The first source of a signal installs a handler, which counts the delivery and signals a wake-up
// descriptor that all signals share (CLinux/Signals.c). The last source to leave restores the
// earlier action. A poller thread that the descriptor wakes takes the counts, and gives each count
// to every source of that signal.
// The masks of the program's threads stay. A thread of the engine leaves open the signals that have
// sources (CLinux/SignalThread.c): so they are counted even if the program's threads all block
// them.
// Rejected: signalfd(2). It reports only what all threads block, and the masks of the program's own
// threads are not ours to change. Of real-time signals it would also take those that sigwait(3)
// waits for elsewhere.
// Counts are taken under the lock. A source that joins first takes the present count for the
// sources that are already there. So each source gets exactly the deliveries between its joining
// and its leaving.
// Signal actions belong to the process, so one instance has them: that of `Watchers.shared`.

/// A listener: a signal source.
protocol SignalListener: AnyObject, Sendable {
  /// Reports deliveries. Any thread that holds no lock. Must not sleep.
  func signalCame(times count: UInt64, on thread: ThreadContext)
}

/// The interest of one source in a signal.
final class SignalEntry: @unchecked Sendable {
  let number: Int32
  /// Weak, so that the signal does not keep its source alive.
  weak var listener: (any SignalListener)?

  init(_ number: Int32) { self.number = number }
}

final class Signals: ReadinessReceiver, @unchecked Sendable {
  private let poller: Poller
  let lock = Lock()
  /// Guarded by the lock. A signal without entries has no key.
  @Cell var entries: [Int32: [SignalEntry]] = [:]
  /// The wake-up descriptor; -1 before it exists.
  @Cell var wakeDescriptor: Int32 = -1
  /// Whether the thread exists that leaves signals open.
  @Cell var hasThread = false
  /// The change that closed a signal whose action is not restored yet.
  @Cell var closing: [Int32: UInt32] = [:]

  init(poller: Poller) { self.poller = poller }

  /// Begins to report deliveries to `entry`. Any thread.
  func join(_ entry: SignalEntry, on thread: ThreadContext) {
    var notified: [Notified] = []
    let isReady = lock.withLock {
      if entries[entry.number] == nil {
        let error = SignalActions.install(entry.number)
        invariant(error == 0, "sigaction(2) refused signal \(entry.number): errno \(error).")
        closing[entry.number] = nil
        SignalActions.open(entry.number)
      } else {
        take(entry.number, into: &notified)
      }
      entries[entry.number, default: []].append(entry)
      return self.isReady
    }
    deliver(notified, on: thread)
    if !isReady { makeReady() }
  }

  /// Whether what all signals share is there. The caller holds the lock.
  private var isReady: Bool { wakeDescriptor >= 0 && hasThread }

  /// Ends all reports to `entry`, except one that a thread is about to deliver. Any thread, any
  /// number of times.
  func leave(_ entry: SignalEntry) {
    let number = entry.number
    let change = lock.withLock { () -> UInt32? in
      guard let place = entries[number]?.firstIndex(where: { $0 === entry }) else { return nil }
      entries[number]?.remove(at: place)
      guard entries[number]?.isEmpty == true else { return nil }
      entries[number] = nil
      let change = SignalActions.close(number)
      closing[number] = change
      return change
    }
    guard let change else { return }
    // Not under the lock, which the poller's threads take.
    SignalActions.await(change)
    lock.withLock {
      // Otherwise a source has joined meanwhile: it needs the handler, or has left, which restores.
      guard closing[number] == change else { return }
      closing[number] = nil
      SignalActions.uninstall(number)
    }
  }

  // MARK: Deliveries

  private typealias Notified = (listener: any SignalListener, count: UInt64)

  /// Takes the count of a signal for its listeners. The caller holds the lock.
  private func take(_ number: Int32, into notified: inout [Notified]) {
    let count = SignalActions.take(number)
    if count == 0 { return }
    for entry in entries[number] ?? [] {
      if let listener = entry.listener { notified.append((listener, count)) }
    }
  }

  /// Notifies listeners outside the lock, and releases them there: one that ends then leaves, which
  /// takes the lock.
  private func deliver(_ notified: [Notified], on thread: ThreadContext) {
    for (listener, count) in notified { listener.signalCame(times: count, on: thread) }
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { deliverAll(on: thread) }

  private func deliverAll(on thread: ThreadContext) {
    var notified: [Notified] = []
    lock.withLock { for number in entries.keys { take(number, into: &notified) } }
    deliver(notified, on: thread)
  }
}

extension Signals: ResourceRetry {
  /// Makes what all signals share, or registers for a retry. Deliveries are counted even without
  /// the descriptor, and without the thread if a thread of the program leaves the signal open.
  private func makeReady() {
    let error = tryMakingReady()
    if error != 0 { poller.lack(self, error: error) }
  }

  /// Returns 0 or an errno.
  private func tryMakingReady() -> Int32 {
    let set = poller.prepare()
    let refusal = ThreadEffects.withoutEffect(on: currentThread()) { SignalActions.startThread() }
    return lock.withLock { () -> Int32 in
      hasThread = refusal == 0
      if wakeDescriptor >= 0 { return refusal }
      switch poller.open(for: self, in: set, EventFD.make) {
      case .failure(let refusal): return refusal.number
      case .success(let own): wakeDescriptor = own.descriptor
      }
      SignalActions.setWakeDescriptor(wakeDescriptor)
      // Reports what was counted before the descriptor was in place.
      EventFD.signal(wakeDescriptor)
      return refusal
    }
  }

  /// The handler must not write to the number, which may be the program's.
  func descriptorWasClosed() -> (any ResourceRetry)? {
    lock.withLock {
      wakeDescriptor = -1
      SignalActions.setWakeDescriptor(-1)
    }
    return self
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    let error = tryMakingReady()
    deliverAll(on: thread)
    return error == 0
  }
}
