// Purpose: what waits for a value. EventDemand and OneShot are generic over it, so they know
// nothing of tasks.

/// A single wait, which ends when it is resumed. Resume it exactly once.
protocol Waiter<Value> {
  associatedtype Value
  func resume(with value: sending Value)
}

/// A suspended task.
struct TaskWaiter<Value>: Waiter, Sendable {
  let continuation: UnsafeContinuation<Value, Never>

  init(_ continuation: UnsafeContinuation<Value, Never>) { self.continuation = continuation }

  func resume(with value: sending Value) { continuation.resume(returning: value) }
}
