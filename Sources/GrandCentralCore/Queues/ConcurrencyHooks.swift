// Room: Queues/ConcurrencyHooks. Takes over the executors of the Swift Concurrency runtime: its
// jobs become items of this engine's queues.
//   global executor         the global queue of the job's class
//   the same, delayed       a timer of the engine, then that queue
//   main actor              the main queue, through the executor that the caller passes: since 6.2
//                           the runtime's own executor calls Dispatch's functions without a hook,
//                           and so do its timers for Task.sleep
//   end of an async main    dispatchMain() where the runtime keeps its main executor; else a fault
// The runtime asks exported variables for these functions (CLinux/Concurrency.c). The engine links
// no part of the runtime. Jobs that were submitted before stay where they are.
import CGrandCentralLinux

package enum ConcurrencyHooks {
  /// Installs the hooks. Any thread; call again at will.
  ///
  /// - Parameter mainExecutor: the two words of a reference to a serial executor, which serves the
  ///   main queue. `nil`: the runtime keeps its own executor for the main actor, whose jobs come
  ///   through the functions of a Dispatch library.
  /// - Returns: `false` if nothing was changed: the process has no Concurrency runtime yet, or
  ///   another library has taken it over.
  package static func install(
    mainExecutor: (identity: UnsafeMutableRawPointer, implementation: UnsafeMutableRawPointer)?
  ) -> Bool {
    var doors = gc_concurrency_doors(
      global: { job, priority in
        ConcurrencyHooks.queue(of: priority).asyncJob(
          job, priority: priority, gc_concurrency_run)
      },
      main: { job, priority in
        Runtime.shared.main.asyncJob(job, priority: priority, gc_concurrency_run_main)
      },
      delayed: { job, priority, nanoseconds in
        ConcurrencyHooks.submit(
          job, priority, at: ConcurrencyHooks.limit(after: nanoseconds), leeway: nil)
      },
      at: { job, priority, clock, seconds, nanoseconds, toleranceSeconds, toleranceNanoseconds in
        let time = ConcurrencyHooks.duration(seconds, nanoseconds)
        let hasTolerance = toleranceSeconds >= 0 && toleranceNanoseconds >= 0
        ConcurrencyHooks.submit(
          job, priority, at: ConcurrencyHooks.limit(clock: clock, nanoseconds: time),
          leeway: hasTolerance
            ? ConcurrencyHooks.duration(toleranceSeconds, toleranceNanoseconds) : nil)
      },
      drain_main: mainExecutor == nil
        ? { Runtime.shared.main.serveForEver() } : { ConcurrencyHooks.failInAsyncMain() },
      main_identity: mainExecutor?.identity, main_implementation: mainExecutor?.implementation)
    return gc_concurrency_install(&doors)
  }

  /// An async main function has read the main actor's executor before it could replace it. The
  /// function would be resumed on a main queue that no thread drains.
  private static func failInAsyncMain() -> Never {
    clientFault(
      "Swift Concurrency was taken over in an async main function. Call takeOverConcurrency() in a "
        + "synchronous main function, start the work in a Task, and call dispatchMain().")
  }

  private static func queue(of priority: UInt8) -> DispatchQueue {
    Runtime.shared.root(PackedQoS(taskPriority: priority).rank)
  }

  private static func submit(
    _ job: UnsafeMutableRawPointer, _ priority: UInt8, at limit: TimeLimit, leeway: UInt64?
  ) {
    queue(of: priority).asyncJob(
      job, priority: priority, at: limit, leeway: leeway, gc_concurrency_run)
  }

  /// The point in time of one of the runtime's clocks.
  ///
  /// The continuous clock is CLOCK_BOOTTIME. The engine's timers have no such clock: the time is
  /// converted now to the clock that stands still while the machine sleeps, so a later sleep of
  /// the machine delays the job by its length.
  static func limit(clock: Int32, nanoseconds: UInt64) -> TimeLimit {
    switch clock {
    case continuous:
      let now = Clock.bootNanoseconds()
      return nanoseconds <= now ? .now : limit(after: nanoseconds - now)
    case wall: return .at(.wall(nanoseconds: nanoseconds))
    default: return .at(.monotonic(nanoseconds: nanoseconds))
    }
  }

  private static func limit(after nanoseconds: UInt64) -> TimeLimit {
    let (sum, overflows) = Clock.monotonicNanoseconds().addingReportingOverflow(nanoseconds)
    return .at(.monotonic(nanoseconds: overflows ? .max : sum))
  }

  static let continuous: Int32 = 1
  static let suspending: Int32 = 2
  static let wall: Int32 = 3

  /// Nanoseconds from the parts of a time. Saturates; negative parts count as 0.
  static func duration(_ seconds: Int64, _ nanoseconds: Int64) -> UInt64 {
    let (product, overflows) = UInt64(max(seconds, 0)).multipliedReportingOverflow(
      by: 1_000_000_000)
    let (sum, isTooLong) = product.addingReportingOverflow(UInt64(max(nanoseconds, 0)))
    return overflows || isTooLong ? .max : sum
  }
}
