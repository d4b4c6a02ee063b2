// Room: Primitives/Clock. The clocks the engine reads.
import CLinux

public enum Clock {
  /// Nanoseconds of CLOCK_MONOTONIC.
  public static func monotonicNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }
  /// The same as of the last tick of the kernel, one to ten milliseconds; a third of the cost.
  public static func coarseNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC_COARSE) }
  /// Nanoseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps.
  public static func bootNanoseconds() -> UInt64 { read(CLOCK_BOOTTIME) }
  /// Nanoseconds since 1970 of CLOCK_REALTIME.
  public static func wallNanoseconds() -> UInt64 { read(CLOCK_REALTIME) }

  /// CPU time that `thread` of this process has used, or `nil` when it is gone.
  public static func cpuNanoseconds(ofThread thread: UInt32) -> Int64? {
    let used = gc_thread_cpu_nanoseconds(thread)
    return used < 0 ? nil : used
  }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var now = timespec()
    // clock_gettime(2) fails only for an unknown clock or a bad address; neither can be here.
    clock_gettime(clock, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }
}
