// A cache that many threads read at once and few change: the reader-writer idiom.
//
//   swift run -c release --package-path Examples cache [COUNT]
//
// Readers use sync() on a concurrent queue and run beside each other. A writer submits a barrier,
// which waits for the readers before it and keeps out those behind it; it does not wait itself. The
// program looks up COUNT words (100,000) from all CPUs and checks every answer.

import Glibc
import GrandCentral
import Synchronization

/// Values by key, at most `capacity` of them. The oldest make room.
// SAFETY: the queue guards all variables: readers share it, barriers have it alone.
final class Cache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  private let queue = DispatchQueue(label: "cache", attributes: .concurrent)
  private let capacity: Int
  private var values: [Key: Value] = [:]
  private var order: [Key] = []

  init(capacity: Int) { self.capacity = capacity }

  subscript(key: Key) -> Value? { queue.sync { values[key] } }

  var count: Int { queue.sync { values.count } }

  func insert(_ value: Value, for key: Key) {
    queue.async(flags: .barrier) { [self] in
      guard values.updateValue(value, forKey: key) == nil else { return }
      order.append(key)
      if order.count > capacity { values[order.removeFirst()] = nil }
    }
  }

  /// Returns the value, and computes it outside the queue if it is missing.
  func value(for key: Key, orMake make: (Key) -> Value) -> (value: Value, wasThere: Bool) {
    if let found = self[key] { return (found, true) }
    let made = make(key)
    insert(made, for: key)
    return (made, false)
  }
}

@main struct Program {
  static func main() {
    let count = CommandLine.arguments.dropFirst().first.map { Int($0) ?? 0 } ?? 100_000
    guard count > 0 else {
      complain("usage: cache [COUNT]")
      exit(2)
    }
    let cache = Cache<Int, String>(capacity: 200)
    let hits = Atomic(0)
    let wrong = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: count) { index in
      // Some keys are asked for far more often than others.
      let key = index % 7 == 0 ? index % 1_000 : index % 100
      let (word, wasThere) = cache.value(for: key) { "word \($0)" }
      if wasThere { hits.add(1, ordering: .relaxed) }
      if word != "word \(key)" { wrong.add(1, ordering: .relaxed) }
    }
    let found = hits.load(ordering: .relaxed)
    print("\(count) look-ups, \(wrong.load(ordering: .relaxed)) wrong, \(cache.count) kept")
    print("\(found * 100 / count) % were in the cache")
    exit(wrong.load(ordering: .relaxed) == 0 ? 0 : 1)
  }
}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("cache: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
