// A limit in time for something that waits.

import GrandCentral

struct TimedOut: Error {}

/// Runs `body`, and cancels it when `limit` has passed. Throws `TimedOut` then.
func withTimeout<Result: Sendable>(
  _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: limit, tolerance: limit / 10, clock: .dispatchUptime)
      throw TimedOut()
    }
    defer { group.cancelAll() }
    guard let result = try await group.next() else { throw TimedOut() }
    return result
  }
}
