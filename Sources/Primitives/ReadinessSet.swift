// Room: Primitives/ReadinessSet. One wait for many descriptors, epoll(7); the present state of one,
// poll(2); the TimerFD.
// Failures are returned as an errno, so that tests and models can cause them.
import CGrandCentralLinux

/// Operations on an epoll(7) set.
public enum ReadinessSet {
  /// How often the readiness of a descriptor is reported.
  public enum Mode: Sendable {
    /// Once; then not until `change`.
    case once
    /// At each new event.
    case edge
    /// At each wait, while it is ready.
    case level

    var flags: UInt32 {
      switch self {
      case .once: 1 << 30
      case .edge: 1 << 31
      case .level: 0
      }
    }
  }

  public typealias Event = gc_readiness

  /// The maximum number of events that one wait returns.
  public static var batch: Int { Int(GC_READINESS_BATCH) }

  /// Makes a set. Returns -1, with errno set, if the kernel refuses.
  public static func make() -> Int32 { gc_epoll_make() }

  /// Adds `descriptor`. It is reported at once if it is ready. Returns 0 or an errno. EPERM:
  /// descriptors of this kind are always ready, epoll_ctl(2).
  public static func add(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64
  ) -> Int32 {
    gc_epoll_add(set, descriptor, interest.rawValue | mode.flags, key)
  }

  /// Arms `descriptor` again, with the given interest. Returns 0 or an errno. ENOENT: the number
  /// refers to another file than the one added. EBADF: it refers to none.
  public static func change(
    _ set: Int32, _ descriptor: Int32, _ interest: Readiness, _ mode: Mode, key: UInt64
  ) -> Int32 {
    gc_epoll_change(set, descriptor, interest.rawValue | mode.flags, key)
  }

  /// Removes `descriptor`. Returns 0 or an errno.
  public static func remove(_ set: Int32, _ descriptor: Int32) -> Int32 {
    gc_epoll_remove(set, descriptor)
  }

  /// Sleeps until a descriptor is ready, for `milliseconds` at most (`nil`: no limit). Fills
  /// `events`, which must have room for a batch. Returns their number; 0 after a timeout or a
  /// signal. `nil`: the program has closed the set, and its number refers to nothing or to another
  /// file.
  public static func wait(
    _ set: Int32, into events: UnsafeMutablePointer<Event>, milliseconds: Int32?
  ) -> Int? {
    let count = gc_epoll_wait(set, events, milliseconds ?? -1)
    if count >= 0 { return Int(count) }
    switch errno {
    case EINTR: return 0
    case EBADF, EINVAL: return nil
    // EFAULT would mean that the engine passed a bad address: epoll_wait(2).
    default: fatalError("BUG IN GRAND CENTRAL: epoll_wait(2) returned errno \(errno).")
    }
  }

  /// The conditions of `interest` that hold for a descriptor now, and whether it has hung up; empty
  /// if the kernel cannot tell.
  public static func now(_ descriptor: Int32, _ interest: Readiness) -> Readiness {
    let seen = gc_poll_now(descriptor, Int32(interest.rawValue))
    return seen < 0 ? [] : Readiness(rawValue: UInt32(seen))
  }
}

/// A TimerFD: a descriptor that becomes readable at a set time, timerfd_create(2).
public enum TimerFD {
  /// Makes a timer. Returns -1, with errno set, if the kernel refuses. `isWall` selects the wall
  /// clock; the timer follows changes of that clock.
  public static func make(isWall: Bool) -> Int32 { gc_timer_make(isWall) }

  /// Sets the timer to fire once, at `nanoseconds` of its clock; at once if that time has passed.
  /// `nanoseconds` must not be 0. Replaces the previous setting.
  public static func set(_ timerFD: Int32, at nanoseconds: UInt64) {
    gc_timer_set(timerFD, nanoseconds)
  }
}
