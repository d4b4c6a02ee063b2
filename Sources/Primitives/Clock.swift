// Room: Primitives/Clock. The clocks that the engine reads.
import CGrandCentralLinux

/// Readings of the kernel's clocks, in nanoseconds.
public enum Clock {
  /// CLOCK_MONOTONIC in nanoseconds.
  public static func monotonicNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }
  /// CLOCK_MONOTONIC in nanoseconds as of the kernel's last tick. Ticks are 1 to 10 ms apart. A
  /// third of the cost.
  // In C, where the callers need no protection of their stacks.
  public static func coarseNanoseconds() -> UInt64 { gc_monotonic_coarse() }
  /// CLOCK_BOOTTIME in nanoseconds. It advances while the machine sleeps.
  public static func bootNanoseconds() -> UInt64 { read(CLOCK_BOOTTIME) }
  /// CLOCK_REALTIME in nanoseconds since 1970.
  public static func wallNanoseconds() -> UInt64 { read(CLOCK_REALTIME) }

  /// The CPU time of `thread` of this process in nanoseconds; `nil` if the thread has ended.
  public static func cpuNanoseconds(ofThread thread: UInt32) -> Int64? {
    let used = gc_thread_cpu_nanoseconds(thread)
    return used < 0 ? nil : used
  }

  /// The CPU time of all threads of this process in nanoseconds, ended ones included.
  public static func processCPUNanoseconds() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var now = timespec()
    // clock_gettime(2) fails only for an unknown clock or a bad address; neither can occur.
    clock_gettime(clock, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }
}
