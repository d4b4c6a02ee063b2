// Room: Primitives/Deadline. When a sleep ends by itself, on either of the two clocks.

/// A point in time at which a sleep ends, absolute on one of the kernel's clocks.
public enum Deadline: Sendable, Equatable {
  /// Nanoseconds on CLOCK_MONOTONIC, which stands still while the machine sleeps.
  case monotonic(nanoseconds: UInt64)
  /// Nanoseconds since 1970 on CLOCK_REALTIME, which follows changes of the wall clock.
  case wall(nanoseconds: UInt64)
}
