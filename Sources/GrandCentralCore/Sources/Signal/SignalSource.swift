// Room: Sources/Signal/SignalSource. Sources that count the deliveries of a signal.

private final class SignalSource: MergingSource, SignalListener, @unchecked Sendable {
  private let entry: SignalEntry
  /// Guarded by the lock, so that a source which is stopped before it starts never starts.
  @Cell private var isStopped = false

  init(_ number: Int32, queue: DispatchQueue?) {
    require(SignalActions.canBeCaught(number), Self.complaint(about: number))
    entry = SignalEntry(number)
    super.init(queue: queue)
    entry.listener = self
  }

  override var laneLabel: String { "signal source" }

  deinit { stop() }

  override var handleValue: UInt { UInt(entry.number) }

  override func startMonitoring() {
    let isLate = lock.withLock { isStopped }
    if isLate { return }
    Watchers.shared.signals.join(entry, on: currentThread())
    if lock.withLock({ isStopped }) { Watchers.shared.signals.leave(entry) }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    lock.withLock { isStopped = true }
    Watchers.shared.signals.leave(entry)
  }

  func signalCame(times count: UInt64, on thread: ThreadContext) {
    // releasing: the handler sees what led to the signal.
    pending.wrappingAdd(count, ordering: .releasing)
    signal(from: thread)
  }

  private static func complaint(about number: Int32) -> String {
    let why =
      switch number {
      case SIGKILL:
        "SIGKILL, which no process can observe. A process is asked to end with SIGTERM: watch that."
      case SIGSTOP:
        "SIGSTOP, which no process can observe. Watch SIGTSTP, or SIGCONT when the process continues."
      case SignalActions.numbers:
        "which the C library keeps for itself. Take one from SIGRTMIN to SIGRTMAX."
      default: "which is no signal. Pass one of those in signal(7), as SIGTERM."
      }
    return "A signal source was made for signal \(number), \(why)"
  }
}

/// A source whose events are deliveries of a signal to the process, or to any of its threads.
///
/// In the event handler, `data` is the number of deliveries since the last event, and `handle` is
/// the signal's number. The handler is an ordinary work item, so the restrictions of a signal
/// handler do not apply to it.
///
/// ```swift
/// signal(SIGTERM, SIG_IGN)
/// let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
/// source.setEventHandler { exit(0) }
/// source.activate()
/// ```
/// - Source: Apple, Dispatch, `DispatchSourceSignal`.
public protocol DispatchSourceSignal: DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceSignal {
  /// Makes a source that counts the deliveries of a signal: see `DispatchSourceSignal`.
  ///
  /// From the activation of its first source to the cancellation of its last, the signal has the
  /// engine's handler in the process. Afterwards the earlier action is back. Meanwhile:
  /// - `SIG_IGN` and `SIG_DFL` are replaced. The signal has no effect but the events.
  /// - A handler of the program is called too, on the thread that the signal is delivered to.
  ///
  /// Set the program's own action before the source is activated. A later action replaces the
  /// engine's handler and stays after the last cancellation; the source then gets only what that
  /// handler passes on.
  ///
  /// The masks of the program's threads stay. A signal that they all block is delivered to a thread
  /// of the engine, and counted; so is one that is sent after the main thread has ended. Do not
  /// wait for the same signal by `sigwait(3)` or `signalfd(2)`: each delivery reaches one of the
  /// two. If a signal below `SIGRTMIN` is sent again while it is pending, the kernel delivers it
  /// once. Real-time signals are each delivered: signal(7). Interrupted system calls are restarted,
  /// unless the program's own handler asked otherwise, or the call is never restarted.
  ///
  /// Children get no events. In a child made by fork(2), the program's own action applies.
  /// execve(2) turns a handler into the default action, even if the program had chosen to ignore
  /// the signal.
  ///
  /// - Parameters:
  ///   - signal: the signal's number. Stops the process with a message for `SIGKILL`, `SIGSTOP`,
  ///     the two signals that the C library reserves, and numbers that are no signal.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_SIGNAL`, `dispatch_source_create(3)`; `sigaction(2)`.
  public class func makeSignalSource(
    signal: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceSignal {
    SignalSource(signal, queue: queue)
  }
}
