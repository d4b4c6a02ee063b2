// Room: Primitives/Clock, the models' side. All clocks are one virtual clock, which advances only
// when a deadline ends a sleep.

public enum Clock {
  public static func monotonicNanoseconds() -> UInt64 { Checker.nanoseconds }
  public static func coarseNanoseconds() -> UInt64 { Checker.nanoseconds }
  public static func bootNanoseconds() -> UInt64 { Checker.nanoseconds }
  public static func wallNanoseconds() -> UInt64 { Checker.nanoseconds }
  /// The CPU time of a thread: always 0, because no CPU time passes in a model.
  public static func cpuNanoseconds(ofThread thread: UInt32) -> Int64? { 0 }
  /// The CPU time of all threads. There are no other programs: they use 64 CPUs.
  public static func processCPUNanoseconds() -> UInt64 { 64 * Checker.nanoseconds }
}
