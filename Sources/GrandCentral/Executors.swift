// Purpose: queues as executors of Swift Concurrency, as on macOS.
// In this module and not in the engine's, because the Concurrency runtime itself loads a Dispatch
// library. A job enters through DispatchQueue.asyncJob(): no closure, no allocation.
//
// A serial queue, and likewise a workloop, is both a task executor and a serial executor. The
// runtime finds the two conformances apart, and each has its own enqueue:
// - As a task executor, the queue runs code that is isolated to no actor. Such a job must not claim
//   the queue as its isolation: the runtime would switch away from it at once, one job more.
// - As a serial executor, it runs code of the actors that name it. Such a job must not claim the
//   queue as its task executor: the next switch of a task without that preference would be a job
//   more.
// Therefore the witness for TaskExecutor is a member of a protocol extension. A member of
// DispatchQueue would also become the witness of the subclass's other conformance.
//
// Two serial queues with the same serial target exclude each other, and yet they are different
// executors: an actor that called another one without a job would overtake what waits on the other
// queue, and run although that queue is suspended. So executors are compared by identity.
import GrandCentralCore

/// A queue runs the jobs of tasks that prefer it.
///
/// ```swift
/// let workers = DispatchQueue(label: "com.example.import", attributes: .concurrent)
/// await withTaskExecutorPreference(workers) { await importAll() }
/// ```
/// - Source: Swift Evolution SE-0417, Task Executor Preference.
extension DispatchQueue: TaskExecutor {}

extension TaskExecutor where Self: DispatchQueue {
  /// Runs a job as an item of this queue, at the job's priority or the queue's, whichever is
  /// higher.
  ///
  /// Call from any thread.
  ///
  /// - Parameter job: the job; runs once.
  /// - Source: Swift Evolution SE-0417, Task Executor Preference.
  public func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  /// Runs a job as `enqueue(_:)` of an `ExecutorJob` does.
  ///
  /// - Parameter job: the job; runs once.
  /// - Source: Swift Evolution SE-0417, Task Executor Preference.
  public func enqueue(_ job: UnownedJob) {
    asyncJob(job.address, priority: job.priority.rawValue) { job, queue in
      // SAFETY: the queue retains itself while it runs an item.
      Unmanaged<DispatchQueue>.fromOpaque(queue)._withUnsafeGuaranteedRef {
        UnownedJob(address: job).runSynchronously(on: $0.asUnownedTaskExecutor())
      }
    }
  }
}

extension DispatchSerialQueue: SerialExecutor {
  /// Runs a job of an actor as an item of this queue, at the job's priority or the queue's,
  /// whichever is higher.
  ///
  /// Call from any thread.
  ///
  /// ```swift
  /// actor Journal {
  ///   private let queue = DispatchSerialQueue(label: "com.example.journal")
  ///   nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  /// }
  /// ```
  /// - Parameter job: the job; runs once.
  /// - Source: Swift Evolution SE-0392, Custom Actor Executors.
  public func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  /// Runs a job as `enqueue(_:)` of an `ExecutorJob` does.
  ///
  /// - Parameter job: the job; runs once.
  /// - Source: Swift Evolution SE-0392, Custom Actor Executors.
  public func enqueue(_ job: UnownedJob) {
    asyncJob(job.address, priority: job.priority.rawValue) { job, queue in
      // SAFETY: the queue retains itself while it runs an item.
      Unmanaged<DispatchSerialQueue>.fromOpaque(queue)._withUnsafeGuaranteedRef {
        UnownedJob(address: job).runSynchronously(on: $0.asUnownedSerialExecutor())
      }
    }
  }

  /// Returns this queue as the executor of an actor. The caller keeps the queue alive.
  ///
  /// - Returns: a reference that is equal to those of the same queue only.
  /// - Source: Swift Evolution SE-0392, Custom Actor Executors.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Stops the process unless the caller is on this queue, or on a queue that targets it.
  ///
  /// - Source: Swift Evolution SE-0424, Custom isolation checking for SerialExecutor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }

  /// Whether the caller is on this queue, or on a queue that targets it.
  ///
  /// - Returns: exactly what `dispatchPrecondition(condition: .onQueue(self))` checks; never `nil`.
  /// - Source: Swift Evolution SE-0471, Improved Custom SerialExecutor isolation checking.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

// The members are those of DispatchSerialQueue: a protocol that both classes shared would make the
// witnesses of the two executors' requirements ambiguous.
extension DispatchWorkloop: SerialExecutor {
  /// Runs a job of an actor as an item of this workloop, at the job's priority, in its turn.
  ///
  /// Call from any thread.
  ///
  /// - Parameter job: the job; runs once.
  /// - Source: Swift Evolution SE-0392, Custom Actor Executors.
  public func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  /// Runs a job as `enqueue(_:)` of an `ExecutorJob` does.
  ///
  /// - Parameter job: the job; runs once.
  /// - Source: Swift Evolution SE-0392, Custom Actor Executors.
  public func enqueue(_ job: UnownedJob) {
    asyncJob(job.address, priority: job.priority.rawValue) { job, queue in
      // SAFETY: the queue retains itself while it runs an item.
      Unmanaged<DispatchWorkloop>.fromOpaque(queue)._withUnsafeGuaranteedRef {
        UnownedJob(address: job).runSynchronously(on: $0.asUnownedSerialExecutor())
      }
    }
  }

  /// Returns this workloop as the executor of an actor. The caller keeps the workloop alive.
  ///
  /// - Returns: a reference that is equal to those of the same workloop only.
  /// - Source: Swift Evolution SE-0392, Custom Actor Executors.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Stops the process unless the caller is on this workloop, or on a queue that targets it.
  ///
  /// - Source: Swift Evolution SE-0424, Custom isolation checking for SerialExecutor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }

  /// Whether the caller is on this workloop, or on a queue that targets it.
  ///
  /// - Returns: exactly what `dispatchPrecondition(condition: .onQueue(self))` checks; never `nil`.
  /// - Source: Swift Evolution SE-0471, Improved Custom SerialExecutor isolation checking.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

extension UnownedJob {
  /// The job as an address, for the engine.
  var address: UnsafeMutableRawPointer {
    // SAFETY: an unowned job is one reference to an object of the runtime.
    unsafeBitCast(self, to: UnsafeMutableRawPointer.self)
  }

  init(address: UnsafeMutableRawPointer) {
    // SAFETY: as above.
    self = unsafeBitCast(address, to: UnownedJob.self)
  }
}
