// Purpose: what waits for a value. EventDemand and OneShot are generic over it, so they know
// nothing of tasks.

/// A single wait, which ends when it is resumed. Resume it exactly once.
protocol Waiter<Value> {
  associatedtype Value
  func resume(with value: sending Value)
}
