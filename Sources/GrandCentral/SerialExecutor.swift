// Purpose: a serial queue as the executor of actors, as on macOS.
// In this module and not in the engine's, because the Concurrency runtime itself loads a Dispatch
// library.

extension DispatchSerialQueue: SerialExecutor {
  /// Runs a job of an actor as an item of this queue.
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
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Stops the process unless the caller is on this queue.
  ///
  /// - Source: Swift Evolution SE-0424, Custom isolation checking for SerialExecutor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}
