// Room: Queues/DispatchQueue+Job. Jobs of Swift Concurrency as items of a queue.
// A job is an object of the Concurrency runtime, which runs once and keeps itself alive until then.
// Its node holds three words and needs no closure: the function that runs jobs of this kind, the
// job, and the queue, which the function may need as the job's executor. So submitting a job
// allocates nothing and counts no references. The queue is alive when its item runs: the lane
// retains itself while it has work.
// This file knows neither the runtime nor its types, so each door passes its own function: module
// GrandCentral for executors, the drop-in for `dispatch_async_swift_job`, ConcurrencyHooks.

extension DispatchQueue {
  /// Runs a job. The arguments: the job, and the queue that it was submitted to.
  package typealias JobFunction =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void

  /// Submits a job and returns at once. Any thread.
  ///
  /// - Parameters:
  ///   - job: the job.
  ///   - priority: the raw value of a `TaskPriority`; 0: the job takes the submitter's class. The
  ///     class of the job is a minimum: it counts on a queue with a lower class too.
  ///   - run: runs the job.
  package final func asyncJob(
    _ job: UnsafeMutableRawPointer, priority: UInt8, _ run: @escaping JobFunction
  ) {
    let thread = currentThread()
    submit(.job(job, priority: priority, run, on: self, from: thread), from: thread)
  }

  /// Submits a job at a point in time.
  final func asyncJob(
    _ job: UnsafeMutableRawPointer, priority: UInt8, at limit: TimeLimit, leeway: UInt64?,
    _ run: @escaping JobFunction
  ) {
    submit(at: limit, leeway: leeway) {
      .job(job, priority: priority, run, on: self, from: $0)
    }
  }
}

extension WorkNode {
  /// Makes a node that calls `run` with `job` and `queue`.
  static func job(
    _ job: UnsafeMutableRawPointer, priority: UInt8, _ run: @escaping DispatchQueue.JobFunction,
    on queue: DispatchQueue, from thread: ThreadContext
  ) -> WorkNode {
    let node = NodeCache.take(thread)
    node.store(run, 16)
    node.store(job, 24)
    node.context = Unmanaged.passUnretained(queue).toOpaque()
    node.entry = jobEntry
    let own = PackedQoS(taskPriority: priority)
    node.traits = WorkTraits(
      qos: own == .unspecified
        ? QoSPropagation.inferred(from: PackedQoS(rawValue: thread.pointee.qos)) : own.enforced)
    return node
  }

  /// The entry of a node that carries a job.
  private static let jobEntry: Entry = { raw, thread in
    grandCentralJobCallout(of: WorkNode(raw), on: thread)
  }
}

/// Empties a node that carries a job, returns it to the cache, and runs the job. Not inlined, so
/// that a backtrace shows where the engine ends.
@inline(never)
private func grandCentralJobCallout(of node: WorkNode, on thread: ThreadContext) {
  let run = node.load(16, as: DispatchQueue.JobFunction.self)
  let job = node.load(24, as: UnsafeMutableRawPointer.self)
  let queue = node.context.unsafelyUnwrapped
  NodeCache.put(node, thread)
  run(job, queue)
}

extension PackedQoS {
  /// The class of a `TaskPriority`. The raw values are those of QoS classes. One between two of
  /// them means the lower; 0 means unspecified.
  init(taskPriority: UInt8) {
    let band: Band =
      switch taskPriority {
      case 0: .unspecified
      case ..<17: .background
      case ..<21: .utility
      case ..<25: .default
      case ..<33: .userInitiated
      default: .userInteractive
      }
    self.init(band: band)
  }
}
