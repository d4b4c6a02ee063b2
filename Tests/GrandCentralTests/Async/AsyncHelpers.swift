import Glibc
import GrandCentral
import TestSupport
import Testing

/// Runs a closure that blocks on a thread of its own, and returns its result.
func value<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    _ = TestThread { continuation.resume(returning: body()) }
  }
}
