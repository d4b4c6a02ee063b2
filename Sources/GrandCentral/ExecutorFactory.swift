// Purpose: queues as the executors of a whole program, through the runtime's executor factory.
// Compiled with the package trait ExecutorFactory only. The factory is SPI of Swift 6.3. SE-0505,
// which would make it public, was returned for revision: a newer compiler may refuse this file.
#if ExecutorFactory
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) public import _Concurrency
  import GrandCentralCore

  /// The executors of Swift Concurrency on this engine's queues, for a program whose main function
  /// is `async`.
  ///
  /// Tasks without an executor of their own run on the global queue of their priority's class. The
  /// main actor is the main queue. The timers of `Task.sleep` are this engine's; a cancelled sleep
  /// keeps its job until its deadline, because the runtime reports no cancellation to an executor.
  ///
  /// ```swift
  /// @_spi(ExperimentalCustomExecutors) import GrandCentral
  ///
  /// typealias DefaultExecutorFactory = QueueExecutors
  ///
  /// @main struct Program {
  ///   static func main() async { await Task.detached { print("on a global queue") }.value }
  /// }
  /// ```
  /// The compiler installs the factory only in a module that it compiles with
  /// `-Xfrontend -disable-availability-checking`; without that flag it ignores the alias. A
  /// synchronous main function needs neither: with this trait, `takeOverConcurrency()` installs the
  /// same executors.
  ///
  /// - Source: Swift Evolution SE-0505, Custom Main and Global Executors (pitch).
  @_spi(ExperimentalCustomExecutors)
  public struct QueueExecutors: ExecutorFactory {
    static let main = MainQueueExecutor()
    static let global = GlobalQueuesExecutor()

    /// The main queue.
    public static var mainExecutor: any MainExecutor { main }
    /// The global queues.
    public static var defaultExecutor: any TaskExecutor { global }
  }

  /// The main queue as the executor of the main actor.
  final class MainQueueExecutor: MainExecutor {
    private let queue: DispatchSerialQueue

    init() {
      guard let queue = DispatchQueue.main as? DispatchSerialQueue else {
        engineFault("The main queue is no DispatchSerialQueue.")
      }
      self.queue = queue
    }

    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

    func enqueue(_ job: UnownedJob) {
      queue.asyncJob(job.address, priority: job.priority.rawValue) { job, _ in
        UnownedJob(address: job).runSynchronously(on: QueueExecutors.main.asUnownedSerialExecutor())
      }
    }

    func checkIsolated() { queue.checkIsolated() }
    func isIsolatingCurrentContext() -> Bool? { queue.isIsolatingCurrentContext() }

    func run() throws { dispatchMain() }
    func stop() {
      clientFault(
        "stop() of the main executor. The main queue is drained until the process ends: call exit()."
      )
    }
  }

  /// The global queues as the executor of tasks that have no other.
  final class GlobalQueuesExecutor: TaskExecutor, SchedulingExecutor {
    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

    func enqueue(_ job: UnownedJob) {
      queue(of: job).asyncJob(job.address, priority: job.priority.rawValue) { job, _ in
        UnownedJob(address: job).runSynchronously(on: .none)
      }
    }

    func enqueue<Clock: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, after delay: Clock.Duration, tolerance: Clock.Duration?,
      clock: Clock
    ) {
      let job = UnownedJob(job)
      guard let delay = delay as? Duration else {
        clientFault("A job was delayed by a \(Clock.Duration.self). Use a clock of Durations.")
      }
      submit(job, after: delay, tolerance: tolerance as? Duration)
    }

    private func submit(_ job: UnownedJob, after delay: Duration, tolerance: Duration?) {
      let queue = queue(of: job)
      let deadline = DispatchTime.now() + DispatchTimeInterval(delay)
      guard let tolerance else {
        return queue.asyncAfter(deadline: deadline) { job.runSynchronously(on: .none) }
      }
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: deadline, leeway: DispatchTimeInterval(tolerance))
      timer.setEventHandler {
        timer.cancel()
        job.runSynchronously(on: .none)
      }
      timer.activate()
    }

    private func queue(of job: UnownedJob) -> DispatchQueue {
      .global(qos: DispatchQoS(TaskPriority(job.priority) ?? .medium).qosClass)
    }
  }

  extension UnownedSerialExecutor {
    /// No serial executor. A job of the global queues must not claim a task executor either: a task
    /// without that preference would switch away from it, one job more.
    fileprivate static var none: UnownedSerialExecutor {
      // SAFETY: a reference to a serial executor is two words; zeros are none.
      unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
    }
  }
#endif
