// Purpose: tasks as waiters. The models compile EventDemand and OneShot without this file.

/// A suspended task.
struct TaskWaiter<Value>: Waiter, Sendable {
  let continuation: UnsafeContinuation<Value, Never>

  init(_ continuation: UnsafeContinuation<Value, Never>) { self.continuation = continuation }

  func resume(with value: sending Value) { continuation.resume(returning: value) }
}

extension OneShot {
  /// Waits for the value. Call once.
  nonisolated(nonsending) func value<Value>() async -> sending Value
  where Waiting == TaskWaiter<Value> {
    await withUnsafeContinuation { self.await(TaskWaiter($0)) }
  }
}
