// State that many threads use, the way of GCD: a queue instead of a lock.

import GrandCentral

/// A value that belongs to a serial queue: only items of the queue touch it, one at a time.
///
/// A thread that only changes the value submits the change and continues at once.
final class Guarded<Value: Sendable>: @unchecked Sendable {
  private let queue: DispatchQueue
  // SAFETY: only items of `queue` use it, and a serial queue runs one item at a time. That is why
  // the class may be `@unchecked Sendable`, and why the tour needs no other such declaration.
  private var value: Value

  init(_ value: Value, label: String) {
    self.value = value
    queue = DispatchQueue(label: label)
  }

  /// Runs `body` with the value, waits for it, and returns its result.
  func sync<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try queue.sync { try body(&value) }
  }

  /// Submits `body`, which will run with the value, and returns.
  func async(group: DispatchGroup? = nil, _ body: @escaping @Sendable (inout Value) -> Void) {
    queue.async(group: group) { body(&self.value) }
  }
}
