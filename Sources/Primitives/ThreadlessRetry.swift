// Room: Primitives/ThreadlessRetry. Retries by sleeping threads while the engine cannot make a
// thread of its own. An engine without a thread can neither run queued work nor retry later: the
// kernel enters a process through a thread or a signal, and signals belong to the program. But a
// thread that waits for the work exists. So while a retrier is registered, every sleep on a word
// ends after 10 ms at most; the thread then retries the failed steps and returns to its word, as
// after a spurious wake-up. Without retriers the cost is one load for each sleep. A thread that
// began its sleep before a retrier was registered does not take part: only its own word can end its
// futex call.

/// An object with failed steps that sleeping threads retry. It must not be released while
/// registered.
public protocol ThreadlessRetrying: AnyObject, Sendable {
  /// Retries once. Runs on any thread whose sleep on a word has ended by time; it holds no lock of
  /// the engine. Must not sleep.
  func retry()
}

/// The registration of retriers.
public enum ThreadlessRetry {
  /// The length of one sleep in nanoseconds while a retrier is registered.
  static var periodNanoseconds: UInt64 { 10_000_000 }
  static let retriers = ThreadlessRetriers()

  /// Registers `retrier`. Returns false if it is registered already.
  @discardableResult
  public static func begin(_ retrier: any ThreadlessRetrying) -> Bool {
    var isNew = false
    retriers.change {
      isNew = !$0.contains(where: { $0 === retrier })
      if isNew { $0.append(retrier) }
    }
    return isNew
  }

  /// Removes `retrier`.
  public static func end(_ retrier: any ThreadlessRetrying) {
    if hasRetriers { retriers.change { $0.removeAll { $0 === retrier } } }
  }

  /// Whether any retrier is registered.
  public static var hasRetriers: Bool {
    // relaxed: a hint before a sleep; retry() reads the list under the lock.
    retriers.count.load(ordering: .relaxed) != 0
  }

  // Not inlined: the check of the access to the list would come before each sleep.
  @inline(never)
  static func retry() {
    for retrier in retriers.current { retrier.retry() }
  }
}

/// The list of retriers. Guarded by its lock, except for the count.
final class ThreadlessRetriers: @unchecked Sendable {
  let count = Atomic<Int>(0)
  private let lock = Lock()
  @Cell private var list: [any ThreadlessRetrying] = []

  func change(_ body: (inout [any ThreadlessRetrying]) -> Void) {
    lock.withLock {
      body(&list)
      count.store(list.count, ordering: .relaxed)
    }
  }

  var current: [any ThreadlessRetrying] { lock.withLock { list } }
}
