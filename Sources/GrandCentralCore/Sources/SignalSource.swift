// Room: Sources/SignalSource. Events that are deliveries of a signal.

private final class SignalSource: MergingSource, SignalListener, @unchecked Sendable {
  private let entry: SignalEntry
  /// Guarded by the lock, so that what is stopped before it starts never starts.
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
    Events.shared.signals.join(entry, on: currentThread())
    if lock.withLock({ isStopped }) { Events.shared.signals.leave(entry) }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    lock.withLock { isStopped = true }
    Events.shared.signals.leave(entry)
  }

  func signalCame(times count: UInt64, on thread: ThreadContext) {
    // releasing: what led to the signal is seen by the handler.
    pending.wrappingAdd(count, ordering: .releasing)
    signal(from: thread)
  }

  private static func complaint(about number: Int32) -> String {
    let why =
      switch number {
      case SIGKILL:
        "SIGKILL, which no process hears of. To end gently it is sent SIGTERM: watch that."
      case SIGSTOP: "SIGSTOP, which no process hears of. Watch SIGTSTP, or SIGCONT when it goes on."
      case SignalActions.numbers:
        "which the C library keeps for itself. Take one from SIGRTMIN to SIGRTMAX."
      default: "which is no signal. Pass one of those in signal(7), as SIGTERM."
      }
    return "A signal source was made for signal \(number), \(why)"
  }
}

/// A source whose events are deliveries of a signal to the process, or to any thread of it.
///
/// In the event handler `data` is the number of deliveries since the last event; `handle` is the signal's number. The
/// handler is work like any other, so it may do all that a signal handler may not.
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
  /// From the activation of its first source to the cancellation of its last, a signal has a handler of the engine's
  /// in the process. What stood there before is back after that, and meanwhile:
  /// - `SIG_IGN`, `SIG_DFL`: replaced. The signal has no other effect than the events.
  /// - a handler of the program's: called too, on the thread that the signal came to.
  ///
  /// Set the program's own action before the source is activated: a later one takes the engine's place, stays after the
  /// last cancellation, and the source hears only what that handler passes on.
  ///
  /// No thread's mask is changed. A signal that all threads block is delivered, and counted, when one of them no longer
  /// does. Signals below `SIGRTMIN` that are sent while one of the kind waits to be delivered are one delivery to the
  /// kernel; real-time signals are each delivered: signal(7). Where a system call is interrupted it goes on, unless
  /// the program's own handler asked otherwise, or the call is one that never does.
  ///
  /// Children get no events: one made by fork(2) has the program's own action when the signal comes, and execve(2) makes
  /// of a handler the default action, also where the program had chosen to ignore the signal.
  ///
  /// - Parameters:
  ///   - signal: its number. `SIGKILL`, `SIGSTOP`, the two that the C library keeps for itself and what is no signal
  ///     stop the process with a message.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_SIGNAL`, `dispatch_source_create(3)`; `sigaction(2)`.
  public class func makeSignalSource(
    signal: Int32, queue: DispatchQueue? = nil
  ) -> any DispatchSourceSignal {
    SignalSource(signal, queue: queue)
  }
}
