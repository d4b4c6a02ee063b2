// Room: Primitives/ReadinessSet. One wait for many descriptors: epoll(7). And what poll(2) says of one of them now.
// Failures are return values, an errno, so that tests and models can bring them about.
import CLinux

public enum ReadinessSet {
  /// How often a descriptor is told of.
  public enum Mode: Sendable {
    /// Once, then no more until `change`.
    case once
    /// Each time that something new comes.
    case edge

    var flags: UInt32 { self == .once ? 1 << 30 : 1 << 31 }
  }

  public typealias Event = gc_readiness

  /// How many events one wait brings at most.
  public static var batch: Int { Int(GC_READINESS_BATCH) }

  /// A new one; -1 when the kernel refuses, with errno set.
  public static func make() -> Int32 { gc_epoll_make() }

  /// Watches `descriptor`; if it is ready already, it is told of at once. Returns 0 or an errno. EPERM: it is of a
  /// kind that is always ready, epoll_ctl(2).
  public static func add(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64
  ) -> Int32 {
    gc_epoll_add(set, descriptor, interest.rawValue | mode.flags, key)
  }

  /// Watches it anew, for something else perhaps. ENOENT: it now stands for another file than the one that was added;
  /// EBADF: for none.
  public static func change(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64
  ) -> Int32 {
    gc_epoll_change(set, descriptor, interest.rawValue | mode.flags, key)
  }

  public static func remove(_ set: Int32, _ descriptor: Int32) -> Int32 {
    gc_epoll_remove(set, descriptor)
  }

  /// Sleeps until something is ready, `milliseconds` at the longest (`nil`: for ever), and fills `events`, which has
  /// room for a batch. Returns how many; 0 also after a signal.
  public static func wait(
    _ set: Int32, into events: UnsafeMutablePointer<Event>, milliseconds: Int32?
  ) -> Int {
    let count = gc_epoll_wait(set, events, milliseconds ?? -1)
    if count >= 0 { return Int(count) }
    // EBADF, EFAULT and EINVAL would mean that the engine passed something bad: epoll_wait(2).
    if errno != EINTR { fatalError("BUG IN GRAND CENTRAL: epoll_wait(2) returned errno \(errno).") }
    return 0
  }

  /// Which of `interest` holds of a descriptor now, and whether it has hung up; nothing where it cannot be told.
  public static func now(_ descriptor: Int32, _ interest: Readiness) -> Readiness {
    let seen = gc_poll_now(descriptor, Int32(interest.rawValue))
    return seen < 0 ? [] : Readiness(rawValue: UInt32(seen))
  }
}

/// A descriptor that becomes readable when a time has come: timerfd_create(2).
public enum Alarm {
  /// A new one; -1 when the kernel refuses, with errno set. `isWall`: on the wall clock, which it follows when that is
  /// set.
  public static func make(isWall: Bool) -> Int32 { gc_timer_make(isWall) }

  /// Rings once, at `nanoseconds` of its clock, which must not be 0; at once if they have passed. Replaces what was
  /// set before.
  public static func set(_ alarm: Int32, at nanoseconds: UInt64) {
    gc_timer_set(alarm, nanoseconds)
  }
}
