// Purpose: the operators + and - of times and intervals.
// Global functions, because a scoped re-export of the types does not include operators. All of them
// saturate; see DispatchTime and DispatchTimeInterval. Those with a Duration are disfavoured:
// `.now() + .seconds(1)` stays a DispatchTimeInterval, while `.now() + .seconds(1.5)` and any
// variable of type Duration select them.
public import GrandCentralCore

/// Returns the time that is `interval` later.
///
/// - Parameters:
///   - time: the start.
///   - interval: the distance; negative for an earlier time.
/// - Returns: the sum; `.distantFuture` for `.never`.
/// - Source: Apple, Dispatch, `+(_:_:)` of `DispatchTime`.
@inlinable
public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
  time.advanced(by: interval)
}

/// Returns the time that is `interval` earlier.
///
/// - Parameters:
///   - time: the start.
///   - interval: the distance; negative for a later time.
/// - Returns: the difference, never before the clock's start.
/// - Source: Apple, Dispatch, `-(_:_:)` of `DispatchTime`.
@inlinable
public func - (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
  time.retreated(by: interval)
}

/// Returns the time that is `seconds` later.
///
/// - Parameters:
///   - time: the start.
///   - seconds: the distance in seconds, rounded towards zero to the nanosecond.
/// - Returns: the sum; `.distantFuture` for NaN.
/// - Source: Apple, Dispatch, `+(_:_:)` of `DispatchTime`.
@inlinable
public func + (time: DispatchTime, seconds: Double) -> DispatchTime {
  time.advanced(bySeconds: seconds)
}

/// Returns the time that is `seconds` earlier.
///
/// - Parameters:
///   - time: the start.
///   - seconds: the distance in seconds, rounded towards zero to the nanosecond.
/// - Returns: the difference, never before the clock's start; `.distantFuture` for NaN.
/// - Source: Apple, Dispatch, `-(_:_:)` of `DispatchTime`.
@inlinable
public func - (time: DispatchTime, seconds: Double) -> DispatchTime {
  time.advanced(bySeconds: -seconds)
}

/// Returns the time that is `duration` later.
///
/// - Parameters:
///   - time: the start.
///   - duration: the distance, rounded up to the nanosecond.
/// - Returns: the sum.
/// - Source: Swift standard library, `Duration`.
@inlinable @_disfavoredOverload
public func + (time: DispatchTime, duration: Duration) -> DispatchTime {
  time.advanced(by: DispatchTimeInterval(duration))
}

/// Returns the time that is `duration` earlier.
///
/// - Parameters:
///   - time: the start.
///   - duration: the distance, rounded up to the nanosecond.
/// - Returns: the difference, never before the clock's start.
/// - Source: Swift standard library, `Duration`.
@inlinable @_disfavoredOverload
public func - (time: DispatchTime, duration: Duration) -> DispatchTime {
  time.retreated(by: DispatchTimeInterval(duration))
}

/// Returns the date that is `interval` later.
///
/// - Parameters:
///   - time: the start.
///   - interval: the distance; negative for an earlier date.
/// - Returns: the sum; `.distantFuture` for `.never`.
/// - Source: Apple, Dispatch, `+(_:_:)` of `DispatchWallTime`.
@inlinable
public func + (time: DispatchWallTime, interval: DispatchTimeInterval) -> DispatchWallTime {
  time.advanced(by: interval)
}

/// Returns the date that is `interval` earlier.
///
/// - Parameters:
///   - time: the start.
///   - interval: the distance; negative for a later date.
/// - Returns: the difference, never before 1970.
/// - Source: Apple, Dispatch, `-(_:_:)` of `DispatchWallTime`.
@inlinable
public func - (time: DispatchWallTime, interval: DispatchTimeInterval) -> DispatchWallTime {
  time.retreated(by: interval)
}

/// Returns the date that is `seconds` later.
///
/// - Parameters:
///   - time: the start.
///   - seconds: the distance in seconds, rounded towards zero to the nanosecond.
/// - Returns: the sum; `.distantFuture` for NaN.
/// - Source: Apple, Dispatch, `+(_:_:)` of `DispatchWallTime`.
@inlinable
public func + (time: DispatchWallTime, seconds: Double) -> DispatchWallTime {
  time.advanced(bySeconds: seconds)
}

/// Returns the date that is `seconds` earlier.
///
/// - Parameters:
///   - time: the start.
///   - seconds: the distance in seconds, rounded towards zero to the nanosecond.
/// - Returns: the difference, never before 1970; `.distantFuture` for NaN.
/// - Source: Apple, Dispatch, `-(_:_:)` of `DispatchWallTime`.
@inlinable
public func - (time: DispatchWallTime, seconds: Double) -> DispatchWallTime {
  time.advanced(bySeconds: -seconds)
}

/// Returns the date that is `duration` later.
///
/// - Parameters:
///   - time: the start.
///   - duration: the distance, rounded up to the nanosecond.
/// - Returns: the sum.
/// - Source: Swift standard library, `Duration`.
@inlinable @_disfavoredOverload
public func + (time: DispatchWallTime, duration: Duration) -> DispatchWallTime {
  time.advanced(by: DispatchTimeInterval(duration))
}

/// Returns the date that is `duration` earlier.
///
/// - Parameters:
///   - time: the start.
///   - duration: the distance, rounded up to the nanosecond.
/// - Returns: the difference, never before 1970.
/// - Source: Swift standard library, `Duration`.
@inlinable @_disfavoredOverload
public func - (time: DispatchWallTime, duration: Duration) -> DispatchWallTime {
  time.retreated(by: DispatchTimeInterval(duration))
}
