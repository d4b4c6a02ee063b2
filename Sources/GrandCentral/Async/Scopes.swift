// Purpose: the sources as scopes: with…(…) { events in for await event in events { … } }.
import Glibc
public import GrandCentralCore

/// One delivery of a timer.
///
/// - Source: Apple, Dispatch, `DispatchSourceTimer`, `data`.
public struct DispatchTick: Hashable, Sendable {
  /// The number of times that the timer has fired since the previous tick, at least 1.
  public let count: Int
  /// The number of times that the timer has fired without a tick of their own: `count - 1`.
  public var missed: Int { count - 1 }
}

/// Runs `body` with the ticks of a timer.
///
/// ```swift
/// await withTimer(every: .seconds(1)) { ticks in
///   for await tick in ticks { print("a second, or \(tick.count)") }
/// }
/// ```
/// The scope ends when `body` returns or throws. It then cancels the timer and waits for its
/// cancel handler, so nothing of the timer is left. Cancelling the task cancels the timer at once
/// and ends the sequence. The same holds for all scopes of this kind.
///
/// - Parameters:
///   - interval: the time between two ticks, and before the first one. Ticks stay on that grid,
///     however late the loop is. An interval below 1 ns counts as 1 ns.
///   - leeway: how much later than due a tick may come, so that one wake-up can serve several
///     timers. The engine widens it for tasks of the priorities utility and background
///     (`DispatchSource.makeTimerSource`).
///   - body: receives the sequence of ticks; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_TIMER`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withTimer<Result, Failure: Error>(
    every interval: Duration, leeway: Duration = .zero,
    _ body: nonisolated(nonsending) (DispatchEvents<DispatchTick>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  try await withTimer(
    deadline: .now() + DispatchTimeInterval(interval), repeating: interval, leeway: leeway, body)
}

/// Runs `body` with the ticks of a timer, the first one at `deadline`.
///
/// Otherwise the same as `withTimer(every:leeway:_:)`.
///
/// - Parameters:
///   - deadline: the first tick, on the clock that stops while the machine sleeps. A time in the
///     past ticks at once.
///   - interval: the time between two ticks.
///   - leeway: how much later than due a tick may come.
///   - body: receives the sequence of ticks; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `dispatch_source_set_timer(3)`.
nonisolated(nonsending)
  public func withTimer<Result, Failure: Error>(
    deadline: DispatchTime, repeating interval: Duration, leeway: Duration = .zero,
    _ body: nonisolated(nonsending) (DispatchEvents<DispatchTick>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let timer = DispatchSource.makeTimerSource()
  timer.schedule(
    deadline: deadline, repeating: DispatchTimeInterval(interval),
    leeway: DispatchTimeInterval(leeway))
  return try await withTicks(of: timer, body)
}

/// Runs `body` with the ticks of a timer on the wall clock, the first one at `wallDeadline`.
///
/// When the wall clock is set, the timer follows it. Otherwise the same as
/// `withTimer(every:leeway:_:)`.
///
/// - Parameters:
///   - wallDeadline: the first tick, on the wall clock.
///   - interval: the time between two ticks.
///   - leeway: how much later than due a tick may come.
///   - body: receives the sequence of ticks; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `dispatch_source_set_timer(3)`.
nonisolated(nonsending)
  public func withTimer<Result, Failure: Error>(
    wallDeadline: DispatchWallTime, repeating interval: Duration, leeway: Duration = .zero,
    _ body: nonisolated(nonsending) (DispatchEvents<DispatchTick>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let timer = DispatchSource.makeTimerSource()
  timer.schedule(
    wallDeadline: wallDeadline, repeating: DispatchTimeInterval(interval),
    leeway: DispatchTimeInterval(leeway))
  return try await withTicks(of: timer, body)
}

nonisolated(nonsending)
  private func withTicks<Result, Failure: Error>(
    of timer: any DispatchSourceTimer,
    _ body: nonisolated(nonsending) (DispatchEvents<DispatchTick>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  try await withEvents(
    of: timer, read: { .event(DispatchTick(count: Int(clamping: timer.data))) }, body)
}

/// Runs `body` with the deliveries of a signal to this process. Each element is their number since
/// the previous one.
///
/// The signal is counted from the call on, and has no other effect until the scope ends: see
/// `DispatchSource.makeSignalSource`. Otherwise the same as `withTimer(every:leeway:_:)`.
///
/// ```swift
/// await withSignal(SIGTERM) { signals in
///   for await _ in signals { break }
///   server.stop()
/// }
/// ```
/// - Parameters:
///   - signal: the signal's number. Stops the process with a message for signals that cannot be
///     handled.
///   - body: receives the sequence of counts; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_SIGNAL`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withSignal<Result, Failure: Error>(
    _ signal: Int32,
    _ body: nonisolated(nonsending) (DispatchEvents<Int>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  // A second source keeps the action for the whole scope: a cancellation ends the first one while
  // the body still runs, and the next delivery could stop the process.
  let held = DispatchSource.makeSignalSource(signal: signal)
  held.activate()
  defer { held.cancel() }
  let source = DispatchSource.makeSignalSource(signal: signal)
  return try await withEvents(
    of: source, read: { .event(Int(clamping: source.data)) }, body)
}

/// Runs `body` with the events of a process. Each element is what has happened since the previous
/// one. The sequence ends with the process's exit.
///
/// The status of a child stays available to waitpid(2): wait for it after the exit was reported,
/// and not earlier. Otherwise the same as `withTimer(every:leeway:_:)`.
///
/// ```swift
/// await withProcess(child) { events in for await _ in events {} }
/// var status: Int32 = 0
/// waitpid(child, &status, 0)
/// ```
/// - Parameters:
///   - identifier: the process's number. Stops the process with a message if it is zero or
///     negative, or that of a thread.
///   - events: the events to report. The exit is reported even if it is not among them.
///   - body: receives the sequence of events; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_PROC`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withProcess<Result, Failure: Error>(
    _ identifier: Int32, events: DispatchSource.ProcessEvent = .exit,
    _ body:
      nonisolated(nonsending) (DispatchEvents<DispatchSource.ProcessEvent>)
      async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let source = DispatchSource.makeProcessSource(
    identifier: identifier, eventMask: events.union(.exit))
  return try await withEvents(
    of: source,
    read: {
      let events: DispatchSource.ProcessEvent = source.data
      return events.contains(.exit) ? .last(events) : .event(events)
    }, body)
}

/// Runs `body` with the changes of an open file or directory. Each element is what has happened
/// since the previous one.
///
/// Otherwise the same as `withTimer(every:leeway:_:)`.
///
/// - Parameters:
///   - fileDescriptor: an open descriptor. Close it after the scope. Stops the process with a
///     message if it is negative.
///   - events: the events to report. Stops the process with a message if it is empty.
///   - body: receives the sequence of events; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_VNODE`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withFileEvents<Result, Failure: Error>(
    of fileDescriptor: Int32, events: DispatchSource.FileSystemEvent = .all,
    _ body:
      nonisolated(nonsending) (DispatchEvents<DispatchSource.FileSystemEvent>)
      async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let source = DispatchSource.makeFileSystemObjectSource(
    fileDescriptor: fileDescriptor, eventMask: events)
  return try await withEvents(of: source, read: { .event(source.data) }, body)
}

/// Runs `body` with the levels of memory pressure. Each element is the present level; levels that
/// have passed in the meantime are not reported.
///
/// Otherwise the same as `withTimer(every:leeway:_:)`.
///
/// - Parameters:
///   - events: the levels to report. Stops the process with a message if it is empty.
///   - body: receives the sequence of levels; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_MEMORYPRESSURE`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withMemoryPressure<Result, Failure: Error>(
    _ events: DispatchSource.MemoryPressureEvent = .all,
    _ body:
      nonisolated(nonsending) (DispatchEvents<DispatchSource.MemoryPressureEvent>)
      async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let source = DispatchSource.makeMemoryPressureSource(eventMask: events)
  return try await withEvents(of: source, read: { .event(source.data) }, body)
}

/// Runs `body` with the moments at which a descriptor is readable. Each element is the number of
/// bytes that can be read without blocking, as far as the kernel knows: 1 for descriptors without
/// bytes to count, such as listening sockets; 0 after a hang-up or an error.
///
/// A hang-up is reported once, and then again only if something new comes; a loop that reads until
/// the end leaves there. Otherwise the same as `withTimer(every:leeway:_:)`.
///
/// ```swift
/// await withReadEvents(of: listening) { events in
///   for await _ in events {
///     while case let client = accept(listening, nil, nil), client >= 0 { serve(client) }
///   }
/// }
/// ```
/// - Parameters:
///   - fileDescriptor: an open descriptor, best in non-blocking mode. Close it after the scope.
///     Stops the process with a message if it is negative.
///   - body: receives the sequence; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_READ`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withReadEvents<Result, Failure: Error>(
    of fileDescriptor: Int32,
    _ body: nonisolated(nonsending) (DispatchEvents<Int>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let source = DispatchSource.makeReadSource(fileDescriptor: fileDescriptor)
  return try await withReadiness(of: source, fileDescriptor, POLLIN, body)
}

/// Runs `body` with the moments at which a descriptor is writable. Each element is roughly the
/// number of bytes that can be written without blocking; 0 after a hang-up or an error, which is
/// reported once.
///
/// Otherwise the same as `withReadEvents(of:_:)`.
///
/// - Parameters:
///   - fileDescriptor: an open descriptor, best in non-blocking mode. Close it after the scope.
///     Stops the process with a message if it is negative.
///   - body: receives the sequence; runs on the caller's actor.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
/// - Source: `DISPATCH_SOURCE_TYPE_WRITE`, `dispatch_source_create(3)`.
nonisolated(nonsending)
  public func withWriteEvents<Result, Failure: Error>(
    of fileDescriptor: Int32,
    _ body: nonisolated(nonsending) (DispatchEvents<Int>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let source = DispatchSource.makeWriteSource(fileDescriptor: fileDescriptor)
  return try await withReadiness(of: source, fileDescriptor, POLLOUT, body)
}

nonisolated(nonsending)
  private func withReadiness<Result, Failure: Error>(
    of source: any DispatchSourceProtocol, _ descriptor: Int32, _ direction: Int32,
    _ body: nonisolated(nonsending) (DispatchEvents<Int>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  try await withEvents(
    of: source,
    read: {
      // The descriptor is waited for from the handler's return on. So an event may be older than
      // what the loop has read or written since: the kernel is asked anew.
      var entry = pollfd(fd: descriptor, events: Int16(direction), revents: 0)
      return poll(&entry, 1, 0) == 1 ? .event(Int(clamping: source.data)) : .nothing
    }, body)
}
