// Room: Sources/DispatchSourceTimer. When a timer fires.

/// A source whose events are points in time.
///
/// In the event handler `data` is the number of times that the timer has fired since the last event.
/// - Source: Apple, Dispatch, `DispatchSourceTimer`.
public protocol DispatchSourceTimer: DispatchSourceProtocol {
  /// Fires once, at `deadline`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  func scheduleOneshot(deadline: DispatchTime, leeway: DispatchTimeInterval)
  /// Fires once, at `wallDeadline`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  func scheduleOneshot(wallDeadline: DispatchWallTime, leeway: DispatchTimeInterval)
  /// Fires at `deadline`, and then every `interval`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  func scheduleRepeating(
    deadline: DispatchTime, interval: DispatchTimeInterval, leeway: DispatchTimeInterval)
  /// Fires at `deadline`, and then every `interval` seconds.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  func scheduleRepeating(deadline: DispatchTime, interval: Double, leeway: DispatchTimeInterval)
  /// Fires at `wallDeadline`, and then every `interval`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: DispatchTimeInterval, leeway: DispatchTimeInterval)
  /// Fires at `wallDeadline`, and then every `interval` seconds.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: Double, leeway: DispatchTimeInterval)
}

extension DispatchSourceTimer {
  /// Fires at `deadline`, and then every `interval`.
  ///
  /// Replaces what was scheduled before, also while the timer runs. Call from any thread. A deadline that has
  /// passed fires at once; `.distantFuture` never. The clock stands still while the machine sleeps.
  ///
  /// - Parameters:
  ///   - deadline: the first time.
  ///   - interval: the time from one to the next; `.never`: once. They stay on the grid that the deadline
  ///     begins, however late a handler runs.
  ///   - leeway: how much later than due the timer may fire, so that one wake-up can serve several.
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      deadline.limit, interval: interval.timerNanoseconds, leeway: leeway.leewayNanoseconds)
  }

  /// Fires at `deadline`, and then every `interval` seconds; infinity: once.
  ///
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    deadline: DispatchTime, repeating interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      deadline.limit, interval: .timer(seconds: interval), leeway: leeway.leewayNanoseconds)
  }

  /// Fires at `wallDeadline` by the wall clock, which follows when that is set, and then every `interval`.
  ///
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    wallDeadline: DispatchWallTime, repeating interval: DispatchTimeInterval = .never,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      wallDeadline.limit, interval: interval.timerNanoseconds, leeway: leeway.leewayNanoseconds)
  }

  /// Fires at `wallDeadline` by the wall clock, and then every `interval` seconds; infinity: once.
  ///
  /// - Source: `dispatch_source_set_timer(3)`.
  public func schedule(
    wallDeadline: DispatchWallTime, repeating interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    source.schedule(
      wallDeadline.limit, interval: .timer(seconds: interval), leeway: leeway.leewayNanoseconds)
  }

  /// Fires once, at `deadline`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  public func scheduleOneshot(
    deadline: DispatchTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, leeway: leeway)
  }

  /// Fires once, at `wallDeadline`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  public func scheduleOneshot(
    wallDeadline: DispatchWallTime, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, leeway: leeway)
  }

  /// Fires at `deadline`, and then every `interval`.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  public func scheduleRepeating(
    deadline: DispatchTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, repeating: interval, leeway: leeway)
  }

  /// Fires at `deadline`, and then every `interval` seconds.
  @available(*, deprecated, renamed: "schedule(deadline:repeating:leeway:)")
  public func scheduleRepeating(
    deadline: DispatchTime, interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(deadline: deadline, repeating: interval, leeway: leeway)
  }

  /// Fires at `wallDeadline`, and then every `interval`.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  public func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: DispatchTimeInterval,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, repeating: interval, leeway: leeway)
  }

  /// Fires at `wallDeadline`, and then every `interval` seconds.
  @available(*, deprecated, renamed: "schedule(wallDeadline:repeating:leeway:)")
  public func scheduleRepeating(
    wallDeadline: DispatchWallTime, interval: Double,
    leeway: DispatchTimeInterval = .nanoseconds(0)
  ) {
    schedule(wallDeadline: wallDeadline, repeating: interval, leeway: leeway)
  }
}

extension DispatchSource: DispatchSourceTimer {}

extension DispatchTimeInterval {
  /// As a timer's interval: 0 for once. Less than a nanosecond is taken as one.
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
  /// Fires at the time that C's word says, and then every `interval` nanoseconds; 0: once.
  package final func schedule(word: dispatch_time_t, interval: UInt64, leeway: UInt64) {
    schedule(TimeLimit(word: word), interval: interval, leeway: leeway)
  }
}
