// Room: Primitives/EventFD, the models' side: one bell, which orders nothing, as if no system call
// did. Whoever has it in a set hears it there too: see ModelKernel.

public enum EventFD {
  private static let rings = Atomic<UInt32>(0)

  public static func make() -> Int32 { Checker.mayRefuse() ? -1 : ModelKernel.wakeDescriptor }

  public static func signal(_ descriptor: Int32) {
    rings.wrappingAdd(1, ordering: .relaxed)
    futexWake(rings)
    if ModelKernel.isWatched(descriptor) { ModelKernel.becomeReady(descriptor, .readable) }
  }

  /// Sleeps until it has been rung.
  static func hear(_ descriptor: Int32) {
    while rings.exchange(0, ordering: .relaxed) == 0 { _ = futexWaitPlainly(rings, while: 0) }
  }
}
