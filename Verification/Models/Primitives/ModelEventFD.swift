// Room: Primitives/EventFD, the models' side. One wake-up descriptor, whose signals order nothing.
// If the descriptor is in the epoll set, a signal also makes it ready there: see ModelKernel.

public enum EventFD {
  private static let rings = Atomic<UInt32>(0)

  public static func make() -> Int32 { Checker.mayRefuse() ? -1 : ModelKernel.wakeDescriptor }

  public static func signal(_ descriptor: Int32) {
    rings.wrappingAdd(1, ordering: .relaxed)
    futexWake(rings)
    if ModelKernel.isWatched(descriptor) { ModelKernel.becomeReady(descriptor, .readable) }
  }

  /// Sleeps until the descriptor is signalled, and consumes all signals.
  static func hear(_ descriptor: Int32) {
    while rings.exchange(0, ordering: .relaxed) == 0 { _ = futexWaitPlainly(rings, while: 0) }
  }
}
