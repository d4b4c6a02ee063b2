// Purpose: a handler that is called when something in this process is stuck.
import GrandCentralBoard
public import GrandCentralCore

extension DispatchSnapshot {
  /// Calls a handler each time that something in this process has been stuck for some time.
  ///
  /// ```swift
  /// let watch = DispatchSnapshot.whenStuck(for: .seconds(30)) { snapshot in
  ///   print(snapshot)
  /// }
  /// ```
  /// The handler gets the snapshot with everything that is stuck then. It is called once for each
  /// hang, again if the hang has ended and returns, and for several hangs one after the other. It
  /// runs on a thread of its own, because the queues may be what is stuck: it must not wait for one
  /// of them. Without a handler the engine does nothing for it. With one, the thread sleeps while
  /// nothing waits, so an idle process is not woken.
  ///
  /// Call from any thread. A child of `fork()` keeps the handlers.
  ///
  /// - Parameters:
  ///   - interval: how long a wait must last. With `.never` the handler is never called. An
  ///     interval that is not positive stops the process.
  ///   - handler: called with the snapshot.
  /// - Returns: the handler's registration. The program keeps it if it wants to cancel it; the
  ///   handler stays without it.
  /// - Source: Docs/Inside.md.
  @discardableResult
  public static func whenStuck(
    for interval: DispatchTimeInterval, _ handler: @escaping @Sendable (DispatchSnapshot) -> Void
  ) -> StuckHandler {
    let nanoseconds = interval.saturatedNanoseconds
    require(
      nanoseconds > 0,
      "whenStuck(for: \(interval)) needs a positive interval: every wait would be stuck at once.")
    if interval == .never { return StuckHandler(nil) }
    let begun = StuckWatch.begin(after: UInt64(nanoseconds)) { dump, _ in
      let snapshot = DispatchSnapshot(dump)
      return { handler(snapshot) }
    }
    StuckWatch.reportRefusal(begun.error, of: "A handler for what is stuck")
    return StuckHandler(begun.observer)
  }

  /// The registration of a handler for what is stuck.
  ///
  /// - Source: Docs/Inside.md.
  public final class StuckHandler: Sendable {
    private let observer: BoardObserver?

    init(_ observer: BoardObserver?) { self.observer = observer }

    /// Removes the handler. Idempotent; call from any thread, also from the handler.
    ///
    /// A call of the handler that has begun is not waited for; no other one begins.
    ///
    /// - Source: Docs/Inside.md.
    public func cancel() { observer.map(BlackBox.shared.watch.remove) }
  }
}
