// Room: Primitives/ForkGate, the models' side. Models never fork, so the gate does nothing.
import CGrandCentralLinux

public enum ForkGate {
  public static var generation: UInt32 { 0 }
  public static func whenForked(
    _ handler: @escaping @Sendable () -> Void, rehearsal: (() -> Void)? = nil
  ) {}
  public static func install() {}
  static func prepare() {}
  static func resumeParent() {}
  static func resumeChild() {}
  public static func enter(_ thread: ThreadContext) {}
  public static func leave(_ thread: ThreadContext) {}
  public static func inside(_ thread: ThreadContext, _ body: () -> Void) { body() }
  public static func outside<Result>(_ thread: ThreadContext, _ body: () -> Result) -> Result {
    body()
  }
  @usableFromInline static func waitToEnter(_ thread: ThreadContext) {}
}

extension ThreadlessRetry {
  public static func endAll() {}
}
