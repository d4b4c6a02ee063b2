// Purpose: closures on queues whose result a task awaits.
// The one-shot decides between the queue, which starts the work, and the cancelling thread, which
// removes it: each of them must claim it first.
public import GrandCentralCore

extension DispatchQueue {
  /// Runs `work` on this queue, and returns its result when it has run.
  ///
  /// The work runs in the class of the task's priority, where the queue has none of its own, and
  /// takes its turn as for `async`. If the task is cancelled before the work starts, the work never
  /// starts and is released, and the call throws at once. Work that has started continues, and the
  /// call returns its result.
  ///
  /// ```swift
  /// let count = try await database.run { rows.count }
  /// ```
  /// - Parameters:
  ///   - flags: the attributes of the work, such as `.barrier`.
  ///   - work: the closure; runs at most once, on the queue.
  /// - Returns: what `work` returns.
  /// - Throws: `CancellationError` if the task was cancelled before the work started.
  /// - Source: `dispatch_async(3)`; Swift Evolution SE-0304, structured concurrency.
  nonisolated(nonsending)
    public func run<Result>(
      flags: DispatchWorkItemFlags = [], _ work: @escaping @Sendable () -> sending Result
    ) async throws(CancellationError) -> sending Result
  {
    switch await Run<Result, Never>.onQueue(self, flags, work).take() {
    case .returned(let result): return result
    case .removed: throw CancellationError()
    }
  }

  /// Runs `work` on this queue, and returns its result or throws its error when it has run.
  ///
  /// Otherwise the same as for work that throws nothing.
  ///
  /// - Parameters:
  ///   - flags: the attributes of the work, such as `.barrier`.
  ///   - work: the closure; runs at most once, on the queue.
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws; `CancellationError` if the task was cancelled before the work
  ///   started.
  /// - Source: `dispatch_async(3)`; Swift Evolution SE-0304, structured concurrency.
  nonisolated(nonsending)
    public func run<Result>(
      flags: DispatchWorkItemFlags = [], _ work: @escaping @Sendable () throws -> sending Result
    ) async throws -> sending Result
  {
    switch await Run<Result, any Error>.onQueue(self, flags, work).take() {
    case .returned(let result): return result
    case .threw(let error): throw error
    case .removed: throw CancellationError()
    }
  }

  /// Runs `work` on this queue, and returns its result or throws its typed error when it has run.
  ///
  /// Otherwise the same as for work that throws nothing.
  ///
  /// - Parameters:
  ///   - flags: the attributes of the work, such as `.barrier`.
  ///   - cancellation: what to throw if the task was cancelled before the work started.
  ///   - work: the closure; runs at most once, on the queue.
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws, or `cancellation`.
  /// - Source: `dispatch_async(3)`; Swift Evolution SE-0413, typed throws.
  nonisolated(nonsending)
    public func run<Result, Failure: Error>(
      flags: DispatchWorkItemFlags = [], cancellation: Failure,
      _ work: @escaping @Sendable () throws(Failure) -> sending Result
    ) async throws(Failure) -> sending Result
  {
    switch await Run<Result, Failure>.onQueue(self, flags, work).take() {
    case .returned(let result): return result
    case .threw(let error): throw error
    case .removed: throw cancellation
    }
  }
}

/// Work on its way to a queue.
// SAFETY: the thread that claims `end` is the only one that accesses the work.
private final class Run<Result, Failure: Error>: @unchecked Sendable {
  enum End {
    case returned(Result)
    case threw(Failure)
    /// Cancelled before the start.
    case removed
  }

  private let end = OneShot<TaskWaiter<Taken<End>>>()
  private var work: (() throws(Failure) -> sending Result)?

  private init(_ work: @escaping @Sendable () throws(Failure) -> sending Result) {
    self.work = work
  }

  nonisolated(nonsending)
    static func onQueue(
      _ queue: DispatchQueue, _ flags: DispatchWorkItemFlags,
      _ work: @escaping @Sendable () throws(Failure) -> sending Result
    ) async -> Taken<End>
  {
    let run = Run(work)
    let qos = DispatchQoS.ofCurrentTask
    return await withTaskCancellationHandler {
      // A task that was cancelled before has removed the work by now.
      if !Task.isCancelled { queue.async(qos: qos, flags: flags) { run.start() } }
      return await run.end.value()
    } onCancel: {
      run.remove()
    }
  }

  private func start() {
    guard end.claim(), let work = work.take() else { return }
    do throws(Failure) { end.set(Taken(.returned(try work()))) } catch {
      end.set(Taken(.threw(error)))
    }
  }

  private func remove() {
    guard end.claim() else { return }
    work = nil
    end.set(Taken(.removed))
  }
}

/// A value that was sent to this box and is taken out once.
// SAFETY: the one-shot orders the two accesses.
private final class Taken<Value>: @unchecked Sendable {
  private var value: Value?

  init(_ value: sending Value) { self.value = value }

  func take() -> sending Value {
    guard let taken = value.take() else { engineFault("The result of a run was taken twice.") }
    // SAFETY: nothing else refers to it: it was sent to init().
    nonisolated(unsafe) let sent = taken
    return sent
  }
}
