// Purpose: Dispatch's clocks as clocks of Swift Concurrency.
// A sleep is a timer source. When it is cancelled, the source puts its timer entry back at once, so
// the sleep's memory is free as soon as its task continues.
// `_Concurrency.Clock`: the engine has a type of the same name.
public import GrandCentralCore

/// The clock of `DispatchTime`: it stands still while the machine sleeps.
///
/// ```swift
/// try await Task.sleep(for: .seconds(5), tolerance: .seconds(1), clock: .dispatchUptime)
/// ```
/// - Source: `clock_gettime(2)`, CLOCK_MONOTONIC; Swift Evolution SE-0329, Clock.
public struct DispatchUptimeClock: _Concurrency.Clock {
  /// A moment of the clock.
  ///
  /// - Source: Swift Evolution SE-0329, Clock.
  public struct Instant: InstantProtocol {
    /// The moment as Dispatch's type.
    public var time: DispatchTime

    /// Creates the moment of a `DispatchTime`.
    ///
    /// - Parameter time: the moment.
    /// - Source: Swift Evolution SE-0329, Clock.
    public init(_ time: DispatchTime) { self.time = time }

    /// Returns the moment that is `duration` later.
    ///
    /// - Parameter duration: the distance, rounded up to the nanosecond.
    /// - Returns: the sum. It saturates: the distant future stays as it is.
    /// - Source: Swift Evolution SE-0329, Clock.
    public func advanced(by duration: Duration) -> Instant {
      Instant(time.advanced(by: DispatchTimeInterval(duration)))
    }

    /// Returns how much later `other` is.
    ///
    /// - Parameter other: the other moment.
    /// - Returns: the distance, negative if `other` is earlier; 292 years if it is the distant
    ///   future.
    /// - Source: Swift Evolution SE-0329, Clock.
    public func duration(to other: Instant) -> Duration { Duration(time.distance(to: other.time)) }

    /// Returns whether `a` comes before `b`.
    ///
    /// - Parameters:
    ///   - a: the first moment.
    ///   - b: the second moment.
    /// - Returns: true if `a` is earlier.
    /// - Source: Swift standard library, `Comparable`.
    public static func < (a: Instant, b: Instant) -> Bool { a.time < b.time }

    /// Adds the moment to a hash.
    ///
    /// - Parameter hasher: the hash.
    /// - Source: Swift standard library, `Hashable`.
    public func hash(into hasher: inout Hasher) { hasher.combine(time.rawValue) }
  }

  /// Creates the clock; all its values are the same.
  ///
  /// - Source: Swift Evolution SE-0329, Clock.
  public init() {}

  /// The current moment.
  public var now: Instant { Instant(.now()) }
  /// The distance between two readings that differ.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the task until `deadline`.
  ///
  /// Cancelling the task ends the sleep at once, and frees its memory.
  ///
  /// - Parameters:
  ///   - deadline: when to wake up. A moment in the past does not suspend.
  ///   - tolerance: how much later than the deadline the task may wake up, so that one wake-up can
  ///     serve several sleeps: the leeway of a timer source. With `nil`, none is asked for. The
  ///     engine widens it for tasks of the priorities utility and background.
  /// - Throws: `CancellationError` if the task was cancelled.
  /// - Source: Swift Evolution SE-0329, Clock; `dispatch_source_set_timer(3)`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await sleepOnTimer(isOver: deadline <= now) {
      $0.schedule(
        deadline: deadline.time, leeway: DispatchTimeInterval(tolerance ?? .zero))
    }
  }
}

/// The clock of `DispatchWallTime`: it shows the date, and sleeps follow changes of it.
///
/// - Source: `clock_gettime(2)`, CLOCK_REALTIME; Swift Evolution SE-0329, Clock.
public struct DispatchWallClock: _Concurrency.Clock {
  /// A moment of the clock.
  ///
  /// - Source: Swift Evolution SE-0329, Clock.
  public struct Instant: InstantProtocol {
    /// The moment as Dispatch's type.
    public var time: DispatchWallTime

    /// Creates the moment of a `DispatchWallTime`.
    ///
    /// - Parameter time: the moment.
    /// - Source: Swift Evolution SE-0329, Clock.
    public init(_ time: DispatchWallTime) { self.time = time }

    /// Returns the moment that is `duration` later.
    ///
    /// - Parameter duration: the distance, rounded up to the nanosecond.
    /// - Returns: the sum. It saturates: the distant future stays as it is.
    /// - Source: Swift Evolution SE-0329, Clock.
    public func advanced(by duration: Duration) -> Instant {
      Instant(time.advanced(by: DispatchTimeInterval(duration)))
    }

    /// Returns how much later `other` is.
    ///
    /// - Parameter other: the other moment.
    /// - Returns: the distance, negative if `other` is earlier; 292 years if it is the distant
    ///   future.
    /// - Source: Swift Evolution SE-0329, Clock.
    public func duration(to other: Instant) -> Duration { Duration(time.distance(to: other.time)) }

    /// Returns whether `a` comes before `b`.
    ///
    /// - Parameters:
    ///   - a: the first moment.
    ///   - b: the second moment.
    /// - Returns: true if `a` is earlier.
    /// - Source: Swift standard library, `Comparable`.
    public static func < (a: Instant, b: Instant) -> Bool { a.time < b.time }

    /// Adds the moment to a hash.
    ///
    /// - Parameter hasher: the hash.
    /// - Source: Swift standard library, `Hashable`.
    public func hash(into hasher: inout Hasher) { hasher.combine(time.rawValue) }
  }

  /// Creates the clock; all its values are the same.
  ///
  /// - Source: Swift Evolution SE-0329, Clock.
  public init() {}

  /// The current moment.
  public var now: Instant { Instant(.now()) }
  /// The distance between two readings that differ.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the task until the clock shows `deadline`.
  ///
  /// When the clock is set, the sleep follows it. Otherwise the same as for `DispatchUptimeClock`.
  ///
  /// - Parameters:
  ///   - deadline: when to wake up. A moment in the past does not suspend.
  ///   - tolerance: how much later than the deadline the task may wake up; `nil`: not at all.
  /// - Throws: `CancellationError` if the task was cancelled.
  /// - Source: Swift Evolution SE-0329, Clock; `dispatch_source_set_timer(3)`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await sleepOnTimer(isOver: deadline <= now) {
      $0.schedule(
        wallDeadline: deadline.time, leeway: DispatchTimeInterval(tolerance ?? .zero))
    }
  }
}

extension _Concurrency.Clock where Self == DispatchUptimeClock {
  /// The clock of `DispatchTime`.
  ///
  /// - Source: Swift Evolution SE-0329, Clock.
  public static var dispatchUptime: DispatchUptimeClock { DispatchUptimeClock() }
}

extension _Concurrency.Clock where Self == DispatchWallClock {
  /// The clock of `DispatchWallTime`.
  ///
  /// - Source: Swift Evolution SE-0329, Clock.
  public static var dispatchWall: DispatchWallClock { DispatchWallClock() }
}

extension Duration {
  /// The length of an interval; `.never` is the longest one of nanoseconds.
  fileprivate init(_ interval: DispatchTimeInterval) {
    switch interval {
    case .seconds(let count): self = .seconds(count)
    case .milliseconds(let count): self = .milliseconds(count)
    case .microseconds(let count): self = .microseconds(count)
    case .nanoseconds(let count): self = .nanoseconds(count)
    case .never: self = .nanoseconds(Int.max)
    }
  }
}

/// Suspends the task until the timer that `schedule` sets has fired, or the task is cancelled.
nonisolated(nonsending)
  private func sleepOnTimer(
    isOver: Bool, _ schedule: (any DispatchSourceTimer) -> Void
  ) async throws
{
  try Task.checkCancellation()
  if isOver { return }
  let fired = OneShot<TaskWaiter<Bool>>()
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler(qos: .ofCurrentTask) { fired.complete(true) }
  schedule(timer)
  let hasFired = await withTaskCancellationHandler {
    timer.activate()
    return await fired.value()
  } onCancel: {
    timer.cancel()
    fired.complete(false)
  }
  timer.cancel()
  if !hasFired { throw CancellationError() }
}
