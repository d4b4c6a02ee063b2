// Purpose: the reader–writer idiom: readers share the queue by `sync`, a writer has it alone by an
// asynchronous barrier that no reader waits for.

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

/// A table that many threads read and few write.
// SAFETY: `values` is only touched by items of `queue`: read by plain ones, written by barriers.
final class ReaderWriterCache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  private let queue: DispatchQueue
  private var values: [Key: Value] = [:]

  init(label: String) {
    queue = DispatchQueue(label: label, attributes: .concurrent)
  }

  /// Returns the value of `key`, computed by `make` if there is none yet. Two threads that miss at
  /// the same time both call `make`, so it must return the same value for the same key.
  func value(for key: Key, make: (Key) -> Value) -> Value {
    if let known = queue.sync(execute: { values[key] }) { return known }
    let made = make(key)
    queue.async(flags: .barrier) { self.values[key] = made }
    return made
  }
}
