// Room: Sources/Process/ProcessSource. Sources that report what happens to a process.
// Every source watches the exit: it ends the source's events, and the number may then become
// another process's. Forks and execs come from the process connector, which is read once more when
// the exit comes, so that the exit is delivered last.
// The public interface says Int32, which pid_t stands for: the compiler does not agree with itself
// which module pid_t comes from.

private final class ProcessSource: MergingSource, ProcessListener, @unchecked Sendable {
  let processNumber: pid_t
  private let events: ProcessEvent
  private let exit: ProcessExit
  /// Guarded by the lock, so that a source which is stopped before it starts never starts.
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
    exit = ProcessExit(process, poller: Reactor.shared.poller)
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
    let changes = Watchers.shared.processChanges
    if events.contains(.signal) { changes.reportSignals() }
    // Joined first, so that nothing falls between it and the exit.
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
    Watchers.shared.processChanges.leave(ObjectIdentifier(self), of: processNumber)
  }

  // MARK: Any thread

  func processExited(on thread: ThreadContext) {
    if asksForChanges {
      Watchers.shared.processChanges.catchUp(on: thread)
      leaveChanges()
    }
    merge(.exit)
    signal(from: thread)
  }

  func note(_ change: ProcessConnector.Change) { merge(change == .fork ? .fork : .exec) }

  func processChanged(on thread: ThreadContext) { signal(from: thread) }

  /// Adds an event, unless the source was not made for it.
  private func merge(_ event: ProcessEvent) {
    // releasing: pairs with the exchange in takeData(), as for all data.
    pending.bitwiseOr(UInt64(event.intersection(events).rawValue), ordering: .releasing)
  }
}

extension DispatchSource {
  /// The events of a process.
  ///
  /// - Source: `DISPATCH_SOURCE_TYPE_PROC`, `dispatch_source_create(3)`.
  public struct ProcessEvent: OptionSet, Sendable {
    /// The events as bits.
    public let rawValue: UInt
    /// Makes a set of events from its bits.
    ///
    /// - Parameter rawValue: the bits of the events.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// It has exited, or a signal has ended it. Its status can be waited for.
    public static let exit = ProcessEvent(rawValue: 0x8000_0000)
    /// It has made a child process.
    public static let fork = ProcessEvent(rawValue: 0x4000_0000)
    /// It has started another program: execve(2).
    public static let exec = ProcessEvent(rawValue: 0x2000_0000)
    /// A signal was sent to it. Linux does not report that, so this event never happens.
    public static let signal = ProcessEvent(rawValue: 0x0800_0000)
    /// All events.
    public static let all: ProcessEvent = [.exit, .fork, .exec, .signal]
  }
}

/// A source whose events are what happens to a process.
///
/// Each property exists with its own type, and as the number that every source has.
///
/// - Source: Apple, Dispatch, `DispatchSourceProcess`.
public protocol DispatchSourceProcess: DispatchSourceProtocol {
  /// The process's number.
  var handle: Int32 { get }
  /// The events since the last one, in the event handler.
  var data: DispatchSource.ProcessEvent { get }
  /// The events that the source was made for.
  var mask: DispatchSource.ProcessEvent { get }
}

extension DispatchSourceProcess {
  /// The process's number.
  ///
  /// - Source: `dispatch_source_get_handle(3)`.
  public var handle: Int32 { Int32(truncatingIfNeeded: source.handleValue) }
  /// The events since the last one, in the event handler.
  ///
  /// - Source: `dispatch_source_get_data(3)`.
  public var data: DispatchSource.ProcessEvent {
    DispatchSource.ProcessEvent(rawValue: (source as any DispatchSourceProtocol).data)
  }
  /// The events that the source was made for.
  ///
  /// - Source: `dispatch_source_get_mask(3)`.
  public var mask: DispatchSource.ProcessEvent {
    DispatchSource.ProcessEvent(rawValue: source.maskValue)
  }
}

extension DispatchSource: DispatchSourceProcess {
  // A file source's handle has the same type, so the compiler needs the protocol's name.
  @_implements(DispatchSourceProcess,handle)
  public final var _processHandle: Int32 { Int32(truncatingIfNeeded: handleValue) }

  /// Makes a source that watches a process: see `DispatchSourceProcess`.
  ///
  /// The process need not be a child of this one. Its exit is reported once, when all its threads
  /// have ended; at once if it had ended before the source was activated, or never existed. The
  /// status of a child stays available to waitpid(2), which does not block once the handler runs.
  /// Wait for the child there and not earlier: after the wait, its number can become another
  /// process's.
  ///
  /// ```swift
  /// let source = DispatchSource.makeProcessSource(
  ///   identifier: child, eventMask: .exit, queue: queue)
  /// source.setEventHandler {
  ///   var status: Int32 = 0
  ///   waitpid(child, &status, 0)
  ///   source.cancel()
  /// }
  /// source.activate()
  /// ```
  /// `.fork` and `.exec` are reported where the kernel lets this process know: in the machine's
  /// initial namespaces, so not in most containers, and before Linux 6.6 only with CAP_NET_ADMIN.
  /// Some can be lost when the machine's processes make more of them than can be received. Where
  /// they are not available, standard error says so once. Linux does not report the signals that
  /// are sent to another process; `GRANDCENTRAL_REPORTS=all` says so when `.signal` is asked for.
  ///
  /// - Parameters:
  ///   - identifier: the process's number. Stops the process with a message if it is zero or
  ///     negative, or, at activation, if it is the number of a thread.
  ///   - eventMask: the events to watch. Stops the process with a message if it has none of them.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_PROC`, `dispatch_source_create(3)`; `pidfd_open(2)`.
  public class func makeProcessSource(
    identifier: Int32, eventMask: DispatchSource.ProcessEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceProcess {
    ProcessSource(identifier, eventMask, queue: queue)
  }
}
