// Closures that one thread makes and another calls, without an engine.

import Synchronization

/// A list of a fixed length, with one producer and one consumer at the same time.
public final class ClosureList: Sendable {
  private let length: Int
  // SAFETY: a slot belongs to the producer until it is published, then to the consumer.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Held>
  private let published = Atomic(0)

  /// As a field: a bare closure passed to a generic is wrapped in another one.
  private struct Held {
    let work: @Sendable () -> Void
  }

  public init(length: Int) {
    self.length = length
    slots = .allocate(capacity: length)
  }

  deinit { slots.deallocate() }

  /// Appends the next closure. Called `length` times by one thread.
  public func append(_ work: @escaping @Sendable () -> Void) {
    // relaxed: only this thread writes it.
    let index = published.load(ordering: .relaxed)
    (slots + index).initialize(to: Held(work: work))
    // releasing: the closure.
    published.store(index + 1, ordering: .releasing)
  }

  /// Calls and releases each closure, in order.
  public func runAll() {
    var next = 0
    while next < length {
      // acquiring: pairs with the store in append().
      let end = published.load(ordering: .acquiring)
      while next < end {
        (slots + next).move().work()
        next += 1
      }
    }
  }
}
