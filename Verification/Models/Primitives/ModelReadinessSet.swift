// Room: Primitives/ReadinessSet, the models' side. The engine's names for calls of ModelKernel.
import CGrandCentralLinux

public enum ReadinessSet {
  public enum Mode: Sendable { case once, edge, level }
  public typealias Event = gc_readiness
  public static var batch: Int { 1 }

  public static func make() -> Int32 {
    if Checker.mayRefuse() {
      errno = EMFILE
      return -1
    }
    return ModelKernel.makeSet()
  }

  public static func add(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> Int32 {
    if Checker.leavesOut(file: file, line: line) { return 0 }
    if Checker.mayRefuse() { return ENOMEM }
    return ModelKernel.add(to: set, descriptor, interest, mode, key)
  }

  public static func change(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64,
    file: StaticString = #fileID, line: UInt32 = #line
  ) -> Int32 {
    if Checker.leavesOut(file: file, line: line) { return 0 }
    if Checker.mayRefuse() { return ENOMEM }
    return ModelKernel.change(in: set, descriptor, interest, mode, key)
  }

  public static func remove(
    _ set: Int32, _ descriptor: Int32, file: StaticString = #fileID, line: UInt32 = #line
  ) -> Int32 {
    Checker.leavesOut(file: file, line: line) ? 0 : ModelKernel.remove(from: set, descriptor)
  }

  public static func wait(
    _ set: Int32, into events: UnsafeMutablePointer<Event>, milliseconds: Int32?
  ) -> Int? {
    guard let event = ModelKernel.wait(in: set, milliseconds: milliseconds) else { return 0 }
    events.initialize(to: event)
    return 1
  }

  public static func now(
    _ descriptor: Int32, _ interest: Readiness, file: StaticString = #fileID, line: UInt32 = #line
  ) -> Readiness {
    Checker.leavesOut(file: file, line: line) ? [] : ModelKernel.now(descriptor, interest)
  }
}

public enum TimerFD {
  public static func make(isWall: Bool) -> Int32 {
    if Checker.mayRefuse() {
      errno = EMFILE
      return -1
    }
    return ModelKernel.openTimerFD()
  }

  public static func set(
    _ timerFD: Int32, at nanoseconds: UInt64, file: StaticString = #fileID, line: UInt32 = #line
  ) {
    if !Checker.leavesOut(file: file, line: line) {
      ModelKernel.setTimerFD(timerFD, at: nanoseconds)
    }
  }
}
