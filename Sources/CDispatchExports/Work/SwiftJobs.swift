// The jobs of the Swift Concurrency runtime. A job is a queue's item without a closure, and has a
// class of its own. It reaches the engine in one of these ways:
//   dispatch_async_swift_job   the runtime finds it by name, if this library stands behind the
//                              runtime in the search order: beside a program, not preloaded and
//                              not embedded
//   dispatch_async_f           otherwise, with a function that passes the job to the runtime. The
//                              function is recognised by its address
//   dispatch_after_f           a task that sleeps, with the same function
//   the global executor's hook for every job of a global executor, once the runtime's own executor
//                              was in use: past the runtime's object, which all threads count
// The hooks of the main executor and of delays are of no use: since Swift 6.2 the runtime asks its
// executors directly in both cases.
//
// The address is learned when the library is loaded: the runtime's exported function for any queue
// submits a job that does not exist, and the call that arrives shows the way and the address. If
// the runtime is loaded later, that happens when it creates its first queue: jobs of the main actor
// from before that lose their class.
//
// The hook is installed when the runtime creates its first queue, so a library that installs its
// own when the program starts finds the hook free. It is not installed in front of another
// executor.
import CGrandCentralLinux
import CGrandCentralStorage

enum SwiftJobs {
  /// Learns how jobs arrive, if the runtime is there. Called once, when the library is loaded.
  static func start() {
    gc_count_jobs_if_asked()
    // A runtime that was loaded before this library, or with it, is linked.
    learn(searches: false)
  }

  /// Called when a queue gets a width that leaves it to the library, as the runtime's queues do.
  static func runtimeStarts() {
    // acquiring and releasing: of two threads one does this, and no thread relies on it being done.
    if hasStarted.exchange(true, ordering: .acquiringAndReleasing) { return }
    if !isLearned.load(ordering: .relaxed) { learn(searches: true) }
    if gc_global_executor_is_own() { _ = gc_hook_global_jobs { SwiftJobs.enqueue($0, $1) } }
  }

  private static let hasStarted = Atomic<Bool>(false)
  private static let isLearned = Atomic<Bool>(false)

  private static func learn(searches: Bool) {
    gc_set_job_function(GC_EXAMINE_ALL)
    // The call that arrives sets the address.
    let isThere = gc_probe_jobs(searches)
    if isThere { isLearned.store(true, ordering: .relaxed) } else { gc_set_job_function(0) }
  }

  /// Submits a function that may be a job.
  @inline(never)
  static func submitPossibleJob(
    _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
  ) {
    if take(target, context, work) { return }
    queue(target)._withUnsafeGuaranteedRef { $0.asyncCall(work, context) }
  }

  /// Submits a job that came as a function. Returns whether it was one.
  private static func take(
    _ target: Handle?, _ context: UnsafeMutableRawPointer?, _ work: @escaping ClientFunction
  ) -> Bool {
    if isProbe(target) {
      gc_set_job_function(address(of: work))
      return true
    }
    let isJob = gc_is_job(address(of: work))
    guard isJob, let context else {
      gc_job_submitted(false)
      return false
    }
    submit(context, to: queue(target))
    return true
  }

  /// Whether a function that is submitted at a point in time resumes a task.
  static func isDelayedJob(_ work: @escaping ClientFunction) -> Bool {
    // relaxed: without a runtime there are no jobs, and an early look misses none.
    guard isLearned.load(ordering: .relaxed) else { return false }
    let isJob = gc_learn_delayed_job(address(of: work))
    gc_job_submitted(isJob)
    return isJob
  }

  /// Whether a queue is the one of the job that does not exist.
  static func isProbe(_ target: Handle?) -> Bool { target == gc_job_probe_queue() }

  /// Stops a program that contains another Dispatch and another Concurrency. If this library is
  /// preloaded there, that runtime finds `dispatch_async_swift_job` by name, and passes queues of
  /// its own Dispatch. No library sees such a runtime, so there is nothing to learn of it.
  static func requireOwnQueue(_ target: Handle) {
    // relaxed: a learned runtime calls the queue functions of this library.
    if isLearned.load(ordering: .relaxed) || target == gc_main_queue_address() { return }
    require(
      gc_is_object_of_this_image(target),
      "The queue of a Swift job belongs to another libdispatch, which the program contains. "
        + "Start the program without LD_PRELOAD, or link it without -static-stdlib.")
  }

  static func qos(of job: UnsafeMutableRawPointer) -> DispatchQoS {
    DispatchQoS(c: UInt32(gc_job_priority(job)), 0) ?? .unspecified
  }

  static func submit(_ job: UnsafeMutableRawPointer, to queue: Unmanaged<DispatchQueue>) {
    submit(job, priority: gc_job_priority(job), to: queue)
  }

  private static func submit(
    _ job: UnsafeMutableRawPointer, priority: UInt8, to queue: Unmanaged<DispatchQueue>
  ) {
    gc_job_submitted(true)
    queue._withUnsafeGuaranteedRef { $0.asyncJob(job, priority: priority, run) }
  }

  // MARK: The global executor

  /// Submits a job of the global executor to the global queue of its class. Returns `false` for
  /// numbers that are no class.
  private static func enqueue(_ job: UnsafeMutableRawPointer, _ priority: UInt8) -> Bool {
    guard let qos = DispatchQoS(c: UInt32(priority), 0), qos.qosClass != .unspecified,
      let handle = GlobalQueues.handle(Int(priority))
    else { return false }
    submit(job, priority: priority, to: Unmanaged.fromOpaque(handle))
    return true
  }

  private static var run: DispatchQueue.JobFunction {
    { job, _ in
      typealias Invoke =
        @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer?, UInt32) -> Void
      // SAFETY: the layout of the runtime's jobs: a job starts with its class, which has the
      // function at offset 24.
      let metadata = job.load(as: UnsafeRawPointer.self)
      metadata.load(fromByteOffset: 24, as: Invoke.self)(job, nil, 0)
    }
  }
}

/// The address of a function, to be compared.
@inline(__always)
func address(of function: @escaping ClientFunction) -> UInt {
  unsafeBitCast(function, to: UInt.self)
}

/// Submits a job of a Swift Concurrency executor: an object whose class says how to run it. The
/// class of the job is that in the job itself.
@c(dispatch_async_swift_job)
public func dispatchAsyncSwiftJob(
  _ target: Handle?, _ job: UnsafeMutableRawPointer, _ qosClass: UInt32
) {
  // The runtime finds this function: no function to recognise.
  if SwiftJobs.isProbe(target) { return gc_set_job_function(0) }
  if let target { SwiftJobs.requireOwnQueue(target) }
  SwiftJobs.submit(job, to: queue(target))
}
