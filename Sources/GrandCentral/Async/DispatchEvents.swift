// Purpose: the events of a source as an AsyncSequence, in a scope that ends the source.
import GrandCentralCore

/// The events of a source, one for each call of `next()`: the parameter of `withTimer`,
/// `withSignal` and their siblings.
///
/// Events are delivered on demand. While no task waits for the next event, the source is suspended:
/// it causes no wake-ups, and what happens is merged into the next event. So there is no buffer,
/// and a slow loop loses no information but the moment of each occurrence.
///
/// The sequence ends (`next()` returns `nil`) when the task of the scope is cancelled, when the
/// scope is left, or with the last event of a process. It belongs to one task: it is not
/// `Sendable`, and the process stops with a message if two tasks wait for one source anyway.
/// Loops may follow each other: each one receives what has happened since the last event.
///
/// - Source: Swift standard library, `AsyncSequence`.
public struct DispatchEvents<Element: Sendable>: AsyncSequence {
  /// An iteration never fails.
  public typealias Failure = Never

  let demand: EventDemand<Element, TaskWaiter<Element?>>

  /// The iterator of a loop.
  ///
  /// - Source: Swift standard library, `AsyncIteratorProtocol`.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let demand: EventDemand<Element, TaskWaiter<Element?>>

    /// Waits for the next event.
    ///
    /// - Returns: the event; `nil` if the sequence has ended.
    /// - Source: Swift standard library, `AsyncIteratorProtocol.next()`.
    nonisolated(nonsending) public mutating func next() async -> Element? {
      await next(isolation: #isolation)
    }

    /// Waits for the next event, without leaving the caller's actor.
    ///
    /// - Parameter actor: the caller's actor.
    /// - Returns: the event; `nil` if the sequence has ended.
    /// - Source: Swift standard library, `AsyncIteratorProtocol.next(isolation:)`.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await withUnsafeContinuation(isolation: actor) { demand.next(TaskWaiter($0)) }
    }
  }

  /// Returns an iterator over the events from now on.
  ///
  /// - Returns: the iterator. Use it in the task of the scope.
  /// - Source: Swift standard library, `AsyncSequence.makeAsyncIterator()`.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(demand: demand) }
}

@available(*, unavailable)
extension DispatchEvents: Sendable {}

@available(*, unavailable)
extension DispatchEvents.AsyncIterator: Sendable {}

/// Runs `body` with the events of `source`, then ends the source and waits for its cancel handler.
///
/// - Parameters:
///   - source: an inactive source.
///   - read: reads the event, in the source's event handler.
nonisolated(nonsending)
  func withEvents<Element: Sendable, Result, Failure: Error>(
    of source: any DispatchSourceProtocol, read: @escaping () -> Occurrence<Element>,
    _ body: nonisolated(nonsending) (DispatchEvents<Element>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  // Set first: the cancel handler runs after all others, in whatever way the source ends.
  let isOver = OneShot<TaskWaiter<Void>>()
  source.setCancelHandler { isOver.complete(()) }
  let demand = EventDemand<Element, TaskWaiter<Element?>>(
    source, qos: .ofCurrentTask, read: read)
  let events = DispatchEvents(demand: demand)
  let outcome = await withTaskCancellationHandler { () async -> Swift.Result<Result, Failure> in
    do throws(Failure) { return .success(try await body(events)) } catch { return .failure(error) }
  } onCancel: {
    demand.end()
  }
  demand.end()
  await isOver.value()
  return try outcome.get()
}
