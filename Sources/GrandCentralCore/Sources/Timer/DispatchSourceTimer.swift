// Room: Sources/Timer/DispatchSourceTimer. The public schedule of timer sources.

/// A source whose events are points in time.
///
/// In the event handler, `data` is the number of times that the timer has fired since the last
/// event.
///
/// - Source: Apple, Dispatch, `DispatchSourceTimer`.
public protocol DispatchSourceTimer: DispatchSourceProtocol {
  /// Schedules the timer to fire once, at `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: when to fire, on the clock that stops while the machine sleeps.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  func scheduleOneshot(deadline: DispatchTime, leeway: DispatchTimeInterval)
  /// Schedules the timer to fire once, at `wallDeadline`.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to fire, on the wall clock.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  func scheduleOneshot(wallDeadline: DispatchWallTime, leeway: DispatchTimeInterval)
  /// Schedules the timer to fire at `deadline`, and then every `interval`.
  ///
  /// - Parameters:
  ///   - deadline: the first time to fire, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next; `.never`: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  func scheduleRepeating(
    deadline: DispatchTime, interval: DispatchTimeInterval, leeway: DispatchTimeInterval)
  /// Schedules the timer to fire at `deadline`, and then every `interval` seconds.
  ///
  /// - Parameters:
  ///   - deadline: the first time to fire, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next, in seconds; infinity: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  func scheduleRepeating(deadline: DispatchTime, interval: Double, leeway: DispatchTimeInterval)
  /// Schedules the timer to fire at `wallDeadline`, and then every `interval`.
  ///
  /// - Parameters:
  ///   - wallDeadline: the first time to fire, on the wall clock.
  ///   - interval: the time from one firing to the next; `.never`: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: DispatchTimeInterval, leeway: DispatchTimeInterval)
  /// Schedules the timer to fire at `wallDeadline`, and then every `interval` seconds.
  ///
  /// - Parameters:
  ///   - wallDeadline: the first time to fire, on the wall clock.
  ///   - interval: the time from one firing to the next, in seconds; infinity: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: Double, leeway: DispatchTimeInterval)
}

extension DispatchSourceTimer {
  /// Schedules the timer to fire at `deadline`, and then every `interval`.
  ///
  /// Replaces the previous schedule, also while the timer runs. Call from any thread. Stops the
  /// process with a message on a source that is not a timer.
  ///
  /// - Parameters:
  ///   - deadline: the first time to fire, on the clock that stops while the machine sleeps. A time
  ///     in the past fires at once; `.distantFuture` never fires.
  ///   - interval: the time from one firing to the next; `.never`: fire once. Firings stay on the
  ///     grid that starts at the deadline, however late a handler runs. An interval below 1 ns
  ///     counts as 1 ns.
  ///   - leeway: how much later than due the timer may fire, so that one wake-up can serve several
  ///     timers; half an interval at most if it repeats.
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      deadline.limit, interval: interval.timerNanoseconds, leeway: leeway.leewayNanoseconds)
  }

  /// Schedules the timer to fire at `deadline`, and then every `interval` seconds.
  ///
  /// Otherwise the same as `schedule(deadline:repeating:leeway:)` with a `DispatchTimeInterval`.
  ///
  /// - Parameters:
  ///   - deadline: the first time to fire, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next, in seconds; infinity: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    deadline: DispatchTime, repeating interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      deadline.limit, interval: .timer(seconds: interval), leeway: leeway.leewayNanoseconds)
  }

  /// Schedules the timer to fire at `wallDeadline` by the wall clock, and then every `interval`.
  ///
  /// When the wall clock is set, the timer follows it. Otherwise the same as
  /// `schedule(deadline:repeating:leeway:)`.
  ///
  /// - Parameters:
  ///   - wallDeadline: the first time to fire, on the wall clock.
  ///   - interval: the time from one firing to the next; `.never`: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    wallDeadline: DispatchWallTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      wallDeadline.limit, interval: interval.timerNanoseconds, leeway: leeway.leewayNanoseconds)
  }

  /// Schedules the timer to fire at `wallDeadline` by the wall clock, and then every `interval`
  /// seconds.
  ///
  /// When the wall clock is set, the timer follows it. Otherwise the same as
  /// `schedule(deadline:repeating:leeway:)`.
  ///
  /// - Parameters:
  ///   - wallDeadline: the first time to fire, on the wall clock.
  ///   - interval: the time from one firing to the next, in seconds; infinity: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    wallDeadline: DispatchWallTime, repeating interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      wallDeadline.limit, interval: .timer(seconds: interval), leeway: leeway.leewayNanoseconds)
  }

  /// Schedules the timer to fire once, at `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: when to fire, on the clock that stops while the machine sleeps.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  public func scheduleOneshot(
    deadline: DispatchTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, leeway: leeway)
  }

  /// Schedules the timer to fire once, at `wallDeadline`.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to fire, on the wall clock.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  public func scheduleOneshot(
    wallDeadline: DispatchWallTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, leeway: leeway)
  }

  /// Schedules the timer to fire at `deadline`, and then every `interval`.
  ///
  /// - Parameters:
  ///   - deadline: the first time to fire, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next; `.never`: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  public func scheduleRepeating(
    deadline: DispatchTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, repeating: interval, leeway: leeway)
  }

  /// Schedules the timer to fire at `deadline`, and then every `interval` seconds.
  ///
  /// - Parameters:
  ///   - deadline: the first time to fire, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next, in seconds; infinity: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  public func scheduleRepeating(
    deadline: DispatchTime, interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, repeating: interval, leeway: leeway)
  }

  /// Schedules the timer to fire at `wallDeadline`, and then every `interval`.
  ///
  /// - Parameters:
  ///   - wallDeadline: the first time to fire, on the wall clock.
  ///   - interval: the time from one firing to the next; `.never`: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  public func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, repeating: interval, leeway: leeway)
  }

  /// Schedules the timer to fire at `wallDeadline`, and then every `interval` seconds.
  ///
  /// - Parameters:
  ///   - wallDeadline: the first time to fire, on the wall clock.
  ///   - interval: the time from one firing to the next, in seconds; infinity: fire once.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  public func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, repeating: interval, leeway: leeway)
  }
}

// The toolchain's Dispatch warns of a call to a protocol's value that leaves out the leeway, and
// not of one with the leeway, which is a requirement. So the requirements are not deprecated, and
// need witnesses that are not either.
extension DispatchSource: DispatchSourceTimer {
  /// Schedules the timer to fire once.
  ///
  /// - Parameters:
  ///   - deadline: when to fire first, on the clock that stops while the machine sleeps.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public final func scheduleOneshot(
    deadline: DispatchTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, leeway: leeway)
  }

  /// Schedules the timer to fire once.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to fire first, on the wall clock.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public final func scheduleOneshot(
    wallDeadline: DispatchWallTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, leeway: leeway)
  }

  /// Schedules the timer to fire repeatedly.
  ///
  /// - Parameters:
  ///   - deadline: when to fire first, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public final func scheduleRepeating(
    deadline: DispatchTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, repeating: interval, leeway: leeway)
  }

  /// Schedules the timer to fire repeatedly, at an interval in seconds.
  ///
  /// - Parameters:
  ///   - deadline: when to fire first, on the clock that stops while the machine sleeps.
  ///   - interval: the time from one firing to the next.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public final func scheduleRepeating(
    deadline: DispatchTime, interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, repeating: interval, leeway: leeway)
  }

  /// Schedules the timer to fire repeatedly.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to fire first, on the wall clock.
  ///   - interval: the time from one firing to the next.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public final func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, repeating: interval, leeway: leeway)
  }

  /// Schedules the timer to fire repeatedly, at an interval in seconds.
  ///
  /// - Parameters:
  ///   - wallDeadline: when to fire first, on the wall clock.
  ///   - interval: the time from one firing to the next.
  ///   - leeway: how much later than due the timer may fire.
  /// - Source: `dispatch_source_set_timer(3)`.
  public final func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, repeating: interval, leeway: leeway)
  }
}

extension DispatchTimeInterval {
  /// The interval of a timer in nanoseconds, at least 1; 0: fire once.
  fileprivate var timerNanoseconds: UInt64 {
    let nanoseconds = saturatedNanoseconds
    if nanoseconds == .max { return 0 }
    return UInt64(max(1, nanoseconds))
  }

  fileprivate var leewayNanoseconds: UInt64 { UInt64(max(0, saturatedNanoseconds)) }
}

extension UInt64 {
  fileprivate static func timer(seconds: Double) -> UInt64 {
    let nanoseconds = seconds * 1_000_000_000
    if nanoseconds.isNaN || nanoseconds >= 0x1p63 { return 0 }
    return UInt64(Swift.max(1, nanoseconds))
  }
}

extension DispatchSource {
  /// Schedules the timer by a deadline in C's encoding. `interval` and `leeway` are in nanoseconds;
  /// an `interval` of 0: fire once.
  package final func schedule(word: dispatch_time_t, interval: UInt64, leeway: UInt64) {
    schedule(TimeLimit(word: word), interval: interval, leeway: leeway)
  }
}
