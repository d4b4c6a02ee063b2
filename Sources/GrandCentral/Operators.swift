// Purpose: sums of points in time and lengths of time, as global functions, which a scoped
// re-export of the types cannot bring along. All of them saturate; see DispatchTime and
// DispatchTimeInterval. Those with a Duration are disfavoured: `.now() + .seconds(1)` stays a
// DispatchTimeInterval, while `.now() + .seconds(1.5)` and any variable of type Duration find them.
public import GrandCentralCore

/// The time that is `interval` later.
@inlinable
public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
  time.advanced(by: interval)
}

/// The time that is `interval` earlier.
@inlinable
public func - (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
  time.retreated(by: interval)
}

/// The time that is `seconds` later.
@inlinable
public func + (time: DispatchTime, seconds: Double) -> DispatchTime {
  time.advanced(bySeconds: seconds)
}

/// The time that is `seconds` earlier.
@inlinable
public func - (time: DispatchTime, seconds: Double) -> DispatchTime {
  time.advanced(bySeconds: -seconds)
}

/// The time that is `duration` later, rounded up to a nanosecond.
@inlinable @_disfavoredOverload
public func + (time: DispatchTime, duration: Duration) -> DispatchTime {
  time.advanced(by: DispatchTimeInterval(duration))
}

/// The time that is `duration` earlier.
@inlinable @_disfavoredOverload
public func - (time: DispatchTime, duration: Duration) -> DispatchTime {
  time.retreated(by: DispatchTimeInterval(duration))
}

/// The date that is `interval` later.
@inlinable
public func + (time: DispatchWallTime, interval: DispatchTimeInterval) -> DispatchWallTime {
  time.advanced(by: interval)
}

/// The date that is `interval` earlier.
@inlinable
public func - (time: DispatchWallTime, interval: DispatchTimeInterval) -> DispatchWallTime {
  time.retreated(by: interval)
}

/// The date that is `seconds` later.
@inlinable
public func + (time: DispatchWallTime, seconds: Double) -> DispatchWallTime {
  time.advanced(bySeconds: seconds)
}

/// The date that is `seconds` earlier.
@inlinable
public func - (time: DispatchWallTime, seconds: Double) -> DispatchWallTime {
  time.advanced(bySeconds: -seconds)
}

/// The date that is `duration` later, rounded up to a nanosecond.
@inlinable @_disfavoredOverload
public func + (time: DispatchWallTime, duration: Duration) -> DispatchWallTime {
  time.advanced(by: DispatchTimeInterval(duration))
}

/// The date that is `duration` earlier.
@inlinable @_disfavoredOverload
public func - (time: DispatchWallTime, duration: Duration) -> DispatchWallTime {
  time.retreated(by: DispatchTimeInterval(duration))
}
