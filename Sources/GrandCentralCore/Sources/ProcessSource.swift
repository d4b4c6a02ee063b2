// Room: Sources/ProcessSource. Events that are what becomes of a process.
// The exit is watched in any case: with it everything ends, and the number may become another process's. What else is
// to be told comes from elsewhere, and is asked for once more when the exit comes, so that the exit is told last.

private final class ProcessSource: MergingSource, ProcessListener, @unchecked Sendable {
  let processNumber: pid_t
  private let events: ProcessEvent
  private let exit: ProcessExit
  /// Guarded by the lock, so that what is stopped before it starts never starts.
  @Cell private var isStopped = false

  init(_ process: pid_t, _ events: ProcessEvent, queue: DispatchQueue?) {
    require(
      process > 0,
      "A process source was made for \(process), which names no single process. Check what fork() or posix_spawn() gave."
    )
    require(
      !events.isDisjoint(with: .all),
      "A process source was made for process \(process) without an event to watch. Pass an eventMask, as .exit."
    )
    processNumber = process
    self.events = events
    exit = ProcessExit(process, poller: Events.shared.poller)
    super.init(queue: queue)
    exit.listener = self
  }

  override var laneLabel: String { "process source" }

  deinit { stop() }

  override var handleValue: UInt { UInt(processNumber) }
  override var maskValue: UInt { events.rawValue }

  private var asksForChanges: Bool { !events.isDisjoint(with: [.fork, .exec]) }

  override func startMonitoring() {
    if lock.withLock({ isStopped }) { return }
    let changes = Events.shared.processChanges
    if events.contains(.signal) { changes.reportSignals() }
    // First, so that nothing can come between it and the exit.
    if asksForChanges { changes.join(self) }
    exit.start(on: currentThread())
    if lock.withLock({ isStopped }) { stop() }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    lock.withLock { isStopped = true }
    exit.stop()
    leaveChanges()
  }

  private func leaveChanges() {
    guard asksForChanges else { return }
    Events.shared.processChanges.leave(ObjectIdentifier(self), of: processNumber)
  }

  // MARK: Any thread

  func processExited(on thread: ThreadContext) {
    if asksForChanges {
      Events.shared.processChanges.catchUp(on: thread)
      leaveChanges()
    }
    merge(.exit)
    signal(from: thread)
  }

  func note(_ change: ProcessConnector.Change) { merge(change == .fork ? .fork : .exec) }

  func processChanged(on thread: ThreadContext) { signal(from: thread) }

  /// What was not asked for is no event.
  private func merge(_ event: ProcessEvent) {
    // releasing: as for all sources, see signal(from:).
    pending.bitwiseOr(UInt64(event.intersection(events).rawValue), ordering: .releasing)
  }
}

extension DispatchSource {
  /// What can become of a process.
  public struct ProcessEvent: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// It has exited, or was ended by a signal. Its status can be waited for.
    public static let exit = ProcessEvent(rawValue: 0x8000_0000)
    /// It has made a child process.
    public static let fork = ProcessEvent(rawValue: 0x4000_0000)
    /// It has become another program: execve(2).
    public static let exec = ProcessEvent(rawValue: 0x2000_0000)
    /// It was sent a signal. Linux does not tell.
    public static let signal = ProcessEvent(rawValue: 0x0800_0000)
    /// All of them.
    public static let all: ProcessEvent = [.exit, .fork, .exec, .signal]
  }
}

/// A source whose events are what becomes of a process.
///
/// Each property is here with its own type, and as the number that every source has.
/// - Source: Apple, Dispatch, `DispatchSourceProcess`.
public protocol DispatchSourceProcess: DispatchSourceProtocol {
  /// The process's number.
  var handle: pid_t { get }
  /// In the event handler, what has happened since the last event.
  var data: DispatchSource.ProcessEvent { get }
  /// What the source was asked to watch.
  var mask: DispatchSource.ProcessEvent { get }
}

extension DispatchSourceProcess {
  public var handle: pid_t { pid_t(truncatingIfNeeded: source.handleValue) }
  public var data: DispatchSource.ProcessEvent {
    DispatchSource.ProcessEvent(rawValue: (source as any DispatchSourceProtocol).data)
  }
  public var mask: DispatchSource.ProcessEvent {
    DispatchSource.ProcessEvent(rawValue: source.maskValue)
  }
}

extension DispatchSource: DispatchSourceProcess {
  // A file's handle has the same type, so the compiler must be told which is whose.
  @_implements(DispatchSourceProcess,handle)
  public final var _processHandle: pid_t { pid_t(truncatingIfNeeded: handleValue) }

  /// Makes a source that watches a process: see `DispatchSourceProcess`.
  ///
  /// The process need not be a child of this one. Its exit is told once, when all its threads have ended, and at once
  /// if it had ended before the source was activated, or never was. Of a child the status stays for waitpid(2), which
  /// does not wait any more once the handler runs; wait for it there, and not before, since its number can be another
  /// process's from then on.
  ///
  /// ```swift
  /// let source = DispatchSource.makeProcessSource(identifier: child, eventMask: .exit, queue: queue)
  /// source.setEventHandler {
  ///   var status: Int32 = 0
  ///   waitpid(child, &status, 0)
  ///   source.cancel()
  /// }
  /// source.activate()
  /// ```
  /// `.fork` and `.exec` are told where the kernel lets this process know: in the machine's first namespaces, so not in
  /// most containers, and before Linux 6.6 with CAP_NET_ADMIN alone; and some can be lost when the machine's processes
  /// do more of it than can be received. Where they are not to be known, standard error says so
  /// once. Linux does not report the signals that another process is sent;
  /// `GRANDCENTRAL_REPORTS=all` says so when `.signal` is asked for.
  ///
  /// - Parameters:
  ///   - identifier: the process. Zero, negative numbers and those of threads stop the process with a message, the
  ///     last when the source is activated.
  ///   - eventMask: what to watch; not empty, or the process stops with a message.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_PROC`, `dispatch_source_create(3)`; `pidfd_open(2)`.
  public class func makeProcessSource(
    identifier: pid_t, eventMask: DispatchSource.ProcessEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceProcess {
    ProcessSource(identifier, eventMask, queue: queue)
  }
}
