// Purpose: Swift Concurrency on this engine, in a program that only imports GrandCentral.
import GrandCentralCore

/// Makes Swift Concurrency run on this engine's queues, for the whole process.
///
/// From this call on, tasks without an executor of their own run on `DispatchQueue.global`, on the
/// queue of their priority's class. Jobs of the main actor run on `DispatchQueue.main`, in turn
/// with its other items. Delayed jobs, such as the end of a `Task.sleep`, are timers of this
/// engine. A program that embeds the product `GrandCentralDropIn` does not need it.
///
/// Call it first in the program, before anything is awaited: the main thread may otherwise already
/// wait for jobs of the main actor in the runtime's own way, and never see those on this engine's
/// main queue. Afterwards the main thread serves both in `dispatchMain()`, in a run loop that
/// drains the main queue, or at the end of an `async` main function. Any thread may call it.
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
public func takeOverConcurrency() -> Bool { ConcurrencyHooks.install() }
