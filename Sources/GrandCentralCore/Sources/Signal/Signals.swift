// Room: Sources/Signal/Signals. Counts signals for sources, whichever thread a signal is delivered
// to.
// No thread's mask changes, so children start with the program's own. The first source of a signal
// installs a handler, which counts the delivery and signals a wake-up descriptor that all signals
// share (CLinux/Signals.c). The last source to leave restores the earlier action. A poller thread
// that the descriptor wakes takes the counts, and gives each count to every source of that signal.
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

  init(poller: Poller) { self.poller = poller }

  /// Begins to report deliveries to `entry`. Any thread.
  func join(_ entry: SignalEntry, on thread: ThreadContext) {
    var notified: [Notified] = []
    let isReady = lock.withLock {
      if entries[entry.number] == nil {
        let error = SignalActions.install(entry.number)
        invariant(error == 0, "sigaction(2) refused signal \(entry.number): errno \(error).")
      } else {
        take(entry.number, into: &notified)
      }
      entries[entry.number, default: []].append(entry)
      return wakeDescriptor >= 0
    }
    deliver(notified, on: thread)
    if !isReady { makeWakeDescriptor() }
  }

  /// Ends all reports to `entry`, except one that a thread is about to deliver. Any thread, any
  /// number of times.
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

  private typealias Notified = (listener: any SignalListener, count: UInt64)

  /// Takes the count of a signal for its listeners. The caller holds the lock.
  private func take(_ number: Int32, into notified: inout [Notified]) {
    let count = SignalActions.take(number)
    if count == 0 { return }
    for entry in entries[number] ?? [] {
      if let listener = entry.listener { notified.append((listener, count)) }
    }
  }

  /// Notifies listeners outside the lock, and releases them there: one that dies then leaves, which
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
  /// Makes the wake-up descriptor. Deliveries are counted even without it.
  private func makeWakeDescriptor() {
    let set = poller.prepare()
    let error = lock.withLock { () -> Int32 in
      if wakeDescriptor >= 0 { return 0 }
      switch poller.open(for: self, in: set, EventFD.make) {
      case .failure(let refusal): return refusal.number
      case .success(let own): wakeDescriptor = own.descriptor
      }
      SignalActions.setWakeDescriptor(wakeDescriptor)
      // Reports what was counted before the descriptor was in place.
      EventFD.signal(wakeDescriptor)
      return 0
    }
    if error != 0 { poller.lack(self, error: error) }
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    makeWakeDescriptor()
    deliverAll(on: thread)
    return lock.withLock { wakeDescriptor >= 0 }
  }
}
