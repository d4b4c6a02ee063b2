// The answers in progress. A stop lets them end; a stop at once cancels them.

import GrandCentral

/// An actor on a queue: its state belongs to the queue, and no lock is needed.
actor Answers {
  private let queue = DispatchSerialQueue(label: "http.answers")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  /// Whether the server stops, so that each answer is the last one of its connection.
  private(set) var isStopping = false
  private var isCancelled = false
  private var running: [Int: @Sendable () -> Void] = [:]
  private var count = 0

  /// Runs `work` in a task of its own, which is not cancelled with the caller's.
  nonisolated func run<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let task = Task(operation: work)
    let number = await begin { task.cancel() }
    let result = await task.result
    await end(number)
    return try result.get()
  }

  func stop(atOnce: Bool) {
    isStopping = true
    if !atOnce { return }
    isCancelled = true
    for cancel in running.values { cancel() }
  }

  private func begin(_ cancel: @escaping @Sendable () -> Void) -> Int {
    count += 1
    running[count] = cancel
    if isCancelled { cancel() }
    return count
  }

  private func end(_ number: Int) { running[number] = nil }
}
