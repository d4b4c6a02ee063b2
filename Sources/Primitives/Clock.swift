// Room: Primitives/Clock. The two clocks the engine reads, and deadlines on them.
import CLinux

/// A point in time at which a sleep ends, absolute on one of the kernel's clocks.
public enum Deadline: Sendable, Equatable {
  /// Nanoseconds on CLOCK_MONOTONIC, which stands still while the machine sleeps.
  case monotonic(nanoseconds: UInt64)
  /// Nanoseconds since 1970 on CLOCK_REALTIME, which follows changes of the wall clock.
  case wall(nanoseconds: UInt64)
}

public enum Clock {
  /// Nanoseconds of CLOCK_MONOTONIC.
  public static func monotonicNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }
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
