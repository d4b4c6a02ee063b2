// Room: Primitives/EventFD, the models' side. One wake-up descriptor, whose signals order nothing.
// If the descriptor is in the epoll set, a signal also makes it ready there: see ModelKernel.

public enum EventFD {
  private static let signals = Atomic<UInt32>(0)

  public static func make() -> Int32 { Checker.mayRefuse() ? -1 : ModelKernel.wakeDescriptor }

  public static func signal(_ descriptor: Int32) {
    signals.wrappingAdd(1, ordering: .relaxed)
    futexWake(signals)
    if ModelKernel.isWatched(descriptor) { ModelKernel.becomeReady(descriptor, .readable) }
  }

  /// Sleeps until the descriptor is signalled, and consumes all signals.
  static func hear(_ descriptor: Int32) {
    while signals.exchange(0, ordering: .relaxed) == 0 { _ = futexWaitPlainly(signals, while: 0) }
  }
}
