// Room: Events/ProcessChanges. Forks and execs, where the kernel lets this process know.
// The process connector tells of every process of the machine, so it is open only while somebody listens. It is for
// who is in the first namespaces, and before Linux 6.6 has CAP_NET_ADMIN; anybody else is told so once, and hears of
// no fork and no exec.
// Tried and rejected: ptrace(2), which takes the process from its debugger and stops it at each event; and watching
// the program file in /proc, which tells of nothing until somebody looks.

final class ProcessChanges: ReadinessReceiver, @unchecked Sendable {
  private let poller: Poller
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private var entries: [pid_t: [Entry]] = [:]
  @Cell private var connector: Int32 = -1
  @Cell private var registration: Registration?
  private let hasReported = Atomic<Bool>(false)
  private let hasReportedSignals = Atomic<Bool>(false)

  private struct Entry {
    weak var listener: (any ProcessListener)?
    let identity: ObjectIdentifier
  }

  private static var batch: Int { 256 }

  init(poller: Poller) { self.poller = poller }

  /// `listener` hears of the changes of its process from now on. Any thread.
  func join(_ listener: any ProcessListener) {
    let entry = Entry(listener: listener, identity: ObjectIdentifier(listener))
    let error = lock.withLock {
      entries[listener.processNumber, default: []].append(entry)
      return open()
    }
    conclude(error)
  }

  /// `listener` hears nothing any more, but for what a thread is just about to tell. Any thread, any number of times.
  func leave(_ identity: ObjectIdentifier, of process: pid_t) {
    let left: Registration? = lock.withLock {
      guard let place = entries[process]?.firstIndex(where: { $0.identity == identity }) else {
        return nil
      }
      entries[process]?.remove(at: place)
      if entries[process]?.isEmpty == true { entries[process] = nil }
      guard entries.isEmpty, connector >= 0 else { return nil }
      _ = ReadinessSet.remove(poller.set.load(ordering: .acquiring), connector)
      ProcessConnector.close(connector)
      connector = -1
      defer { registration = nil }
      return registration
    }
    if let left { poller.unregister(left) }
  }

  /// Tells all that the kernel has told so far. Any thread. What came before an exit is noted before it is told, also
  /// by another thread, since noting is done under the lock.
  func catchUp(on thread: ThreadContext) {
    while true {
      var noted: [any ProcessListener] = []
      let isMore = lock.withLock { read(into: &noted) }
      for listener in noted { listener.processChanged(on: thread) }
      if !isMore { return }
    }
  }

  /// With the lock held; a batch at most, so that others may have the lock in between. Returns whether there may be more.
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

  /// In a child that was forked, which shares the connector.
  func forgetAll() {
    lock.withLock {
      entries = [:]
      registration = nil
      if connector >= 0 { ProcessConnector.close(connector) }
      connector = -1
    }
  }

  // MARK: The connector

  /// With the lock held. Returns 0 or an errno.
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
      GRAND CENTRAL: A process source asks for forks or execs, and the system does not let this process know \
      (errno \(error); the process connector of netlink(7) wants the machine's first namespaces, and before Linux 6.6 \
      CAP_NET_ADMIN). \
      Exits are told.
      """)
  }

  /// A source asks for what Linux tells nobody.
  func reportSignals() {
    guard !hasReportedSignals.exchange(true, ordering: .relaxed) else { return }
    report(
      .signalsUnknown,
      """
      GRAND CENTRAL: A process source asks for the signals that another process is sent. Linux does not report them.
      """)
  }
}

extension ProcessChanges: Lacking {
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
