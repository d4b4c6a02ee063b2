// Room: Primitives/Clock, the models' side: one virtual clock, which moves only when a deadline
// ends a sleep.

public enum Clock {
  public static func monotonicNanoseconds() -> UInt64 { Checker.nanoseconds }
  public static func coarseNanoseconds() -> UInt64 { Checker.nanoseconds }
  public static func bootNanoseconds() -> UInt64 { Checker.nanoseconds }
  public static func wallNanoseconds() -> UInt64 { Checker.nanoseconds }
  /// No CPU time passes in a model.
  public static func cpuNanoseconds(ofThread thread: UInt32) -> Int64? { 0 }
}
