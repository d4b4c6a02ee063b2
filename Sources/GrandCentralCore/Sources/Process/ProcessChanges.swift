// Room: Sources/Process/ProcessChanges. Reports forks and execs, where the kernel lets this process
// know.
// The process connector reports every process of the machine, so it is open only while there are
// listeners. It requires the initial namespaces, and before Linux 6.6 CAP_NET_ADMIN. A process
// without these gets one report, and no fork or exec events.
// Rejected: ptrace(2), which takes the process from its debugger and stops it at each event; and
// watching the program file in /proc, which reports nothing until something reads it.

final class ProcessChanges: ReadinessReceiver, @unchecked Sendable {
  let poller: Poller
  let lock = Lock()
  /// Guarded by the lock.
  @Cell var entries: [pid_t: [Entry]] = [:]
  @Cell var connector: Int32 = -1
  @Cell var registration: Registration?
  private let hasReported = Atomic<Bool>(false)
  private let hasReportedSignals = Atomic<Bool>(false)

  struct Entry {
    weak var listener: (any ProcessListener)?
    let identity: ObjectIdentifier
  }

  private static var batch: Int { 256 }

  init(poller: Poller) { self.poller = poller }

  /// Begins to report changes of its process to `listener`. Any thread.
  func join(_ listener: any ProcessListener) {
    let entry = Entry(listener: listener, identity: ObjectIdentifier(listener))
    let error = lock.withLock {
      entries[listener.processNumber, default: []].append(entry)
      return open()
    }
    conclude(error)
  }

  /// Ends all reports to a listener, except one that a thread is about to deliver. Any thread, any
  /// number of times.
  func leave(_ identity: ObjectIdentifier, of process: pid_t) {
    let left: Registration? = lock.withLock {
      guard let place = entries[process]?.firstIndex(where: { $0.identity == identity }) else {
        return nil
      }
      entries[process]?.remove(at: place)
      if entries[process]?.isEmpty == true { entries[process] = nil }
      guard entries.isEmpty, connector >= 0 else { return nil }
      if let registration { poller.withdraw(registration) }
      ProcessConnector.close(connector)
      connector = -1
      defer { registration = nil }
      return registration
    }
    if let left { poller.unregister(left) }
  }

  /// Delivers all that the kernel has reported so far. Any thread. Changes before an exit are noted
  /// before the exit is delivered, even if another thread reads them, because they are noted under
  /// the lock.
  func catchUp(on thread: ThreadContext) {
    while true {
      var noted: [any ProcessListener] = []
      let isMore = lock.withLock { read(into: &noted) }
      for listener in noted { listener.processChanged(on: thread) }
      if !isMore { return }
    }
  }

  /// Reads at most a batch, so that other threads can take the lock in between. The caller holds
  /// the lock. Returns whether there may be more.
  private func read(into noted: inout [any ProcessListener]) -> Bool {
    for _ in 0..<Self.batch {
      guard connector >= 0, let event = ProcessConnector.next(connector) else { return false }
      for entry in entries[event.process] ?? [] {
        guard let listener = entry.listener else { continue }
        listener.note(event.change)
        noted.append(listener)
      }
    }
    return true
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) { catchUp(on: thread) }

  // MARK: The connector

  /// Opens the connector. The caller holds the lock. Returns 0 or an errno.
  private func open() -> Int32 {
    if connector >= 0 || entries.isEmpty { return 0 }
    let set = poller.prepare()
    if set < 0 { return -set }
    let made = ProcessConnector.open()
    guard made >= 0 else { return errno }
    switch poller.register(self, for: made, .readable, .edge) {
    case .failure(let refusal):
      ProcessConnector.close(made)
      return refusal.number
    case .success(let own):
      connector = made
      registration = own
    }
    return 0
  }

  private func conclude(_ error: Int32) {
    switch error {
    case 0: break
    case EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC: poller.lack(self, error: error)
    default: reportRefusal(error)
    }
  }

  private func reportRefusal(_ error: Int32) {
    guard !hasReported.exchange(true, ordering: .relaxed) else { return }
    report(
      .forksUnknown,
      """
      GRAND CENTRAL: A process source asks for forks or execs, and the system does not let this \
      process know \
      (errno \(error); the process connector of netlink(7) wants the machine's first namespaces, \
      and before Linux 6.6 \
      CAP_NET_ADMIN). \
      Exits are notified.
      """)
  }

  /// Reports, once, that Linux does not report the signals of another process.
  func reportSignals() {
    guard !hasReportedSignals.exchange(true, ordering: .relaxed) else { return }
    report(
      .signalsUnknown,
      """
      GRAND CENTRAL: A process source asks for the signals that another process is sent. Linux \
      does not report them.
      """)
  }
}

extension ProcessChanges: ResourceRetry {
  func tryAgain(on thread: ThreadContext) -> Bool {
    let error = lock.withLock { open() }
    switch error {
    case 0: return true
    case EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC: return false
    default:
      reportRefusal(error)
      return true
    }
  }
}
