// Purpose: Swift Concurrency on this engine, in a program that only imports GrandCentral.
import GrandCentralCore

#if ExecutorFactory
  @_spi(ExperimentalCustomExecutors) import _Concurrency
#endif

/// Makes Swift Concurrency run on this engine's queues, for the whole process.
///
/// From this call on, tasks without an executor of their own run on `DispatchQueue.global`, on the
/// queue of their priority's class. Jobs of the main actor run on `DispatchQueue.main`, in turn
/// with its other items. A program that embeds the product `GrandCentralDropIn` does not need it.
///
/// The runtime of Swift 6.3 calls no hook for the timer of `Task.sleep`: it stays the toolchain's,
/// and the task then continues on a queue of this engine. With the package trait `ExecutorFactory`
/// it is this engine's. Earlier entry points for delayed jobs use this engine's timers.
///
/// Call it in a synchronous main function, before anything is awaited. Then start the work in a
/// `Task` and call `dispatchMain()`, or run a loop that drains the main queue. An `async` main
/// function has chosen the runtime's own executor before its first line, and would be resumed on a
/// queue that no thread drains: such a program stops with a message that says so.
///
/// ```swift
/// import GrandCentral
///
/// guard takeOverConcurrency() else { fatalError("Another library has taken it over.") }
/// Task { print("on a worker of this engine") }
/// dispatchMain()
/// ```
/// - Returns: whether Swift Concurrency runs on this engine. `false`: another library has installed
///   hooks of its own, and nothing is changed.
/// - Source: swift/Runtime/Concurrency.h, the hooks of the Concurrency runtime.
@discardableResult
public func takeOverConcurrency() -> Bool {
  // The main queue is a DispatchSerialQueue, and lives as long as the process.
  guard let main = DispatchQueue.main as? DispatchSerialQueue else { return false }
  // SAFETY: a reference to an executor is two words: the object, and its conformance.
  let words = unsafeBitCast(
    main.asUnownedSerialExecutor(),
    to: (UnsafeMutableRawPointer, UnsafeMutableRawPointer).self)
  guard ConcurrencyHooks.install(mainExecutor: (words.0, words.1)) else { return false }
  #if ExecutorFactory
    // For the timers of Task.sleep, which no hook serves.
    _createExecutors(factory: QueueExecutors.self)
  #endif
  return true
}
