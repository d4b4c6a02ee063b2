// Room: Primitives/Deadline. The end of a sleep, on either of two clocks.

/// An absolute time on one of the kernel's clocks, at which a sleep ends.
public enum Deadline: Sendable, Equatable {
  /// Nanoseconds of CLOCK_MONOTONIC, which stops while the machine sleeps.
  case monotonic(nanoseconds: UInt64)
  /// Nanoseconds since 1970 of CLOCK_REALTIME, which follows changes of the wall clock.
  case wall(nanoseconds: UInt64)
}
