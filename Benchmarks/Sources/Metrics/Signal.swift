// Waiting and counting without either engine.

import CMetrics
import Glibc
import Synchronization

/// A POSIX semaphore: the waiter sleeps in the kernel.
public final class Signal: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  public init() {
    semaphore = .allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  public func post() {
    sem_post(semaphore)
  }

  public func wait() {
    while sem_wait(semaphore) != 0 && errno == EINTR {}
  }
}

/// Counts arrivals of many threads on separate cache lines; one shared line would cost more than
/// the measured work. The one waiter polls, which costs about 0.1 ms a sample.
public final class Arrivals: @unchecked Sendable {
  private static let stripes = 64
  /// The distance between two counters in words: a pair of cache lines.
  private static let stride = 16
  private let words: UnsafeMutablePointer<Atomic<Int>>

  public init() {
    words = .allocate(capacity: Self.stripes * Self.stride)
    for index in 0..<Self.stripes * Self.stride { (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    words.deinitialize(count: Self.stripes * Self.stride)
    words.deallocate()
  }

  /// Counts one arrival.
  public func arrive() {
    let stripe = Int(truncatingIfNeeded: metrics_thread_stripe()) & (Self.stripes - 1)
    // releasing: pairs with the acquiring loads in `count`.
    words[stripe * Self.stride].wrappingAdd(1, ordering: .releasing)
  }

  /// The number of arrivals so far.
  public var count: Int {
    var sum = 0
    for stripe in 0..<Self.stripes {
      sum += words[stripe * Self.stride].load(ordering: .acquiring)
    }
    return sum
  }

  /// Waits for `expected` arrivals. More arrivals end the benchmark.
  public func wait(for expected: Int) {
    var seen = count
    while seen < expected {
      sleep(microseconds: 20)
      seen = count
    }
    expect(seen == expected, "\(seen) items ran of \(expected)")
  }
}

/// Counts down to zero. The one waiter sleeps in the kernel until the last arrival.
public final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let ended = Signal()

  public init(_ count: Int) { left = Atomic(count) }

  public func arrive() {
    // acquiringAndReleasing: the last arrival sees all writes before every other arrival, and
    // passes them on to the waiter.
    let now = left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    if now == 0 { ended.post() }
    expect(now >= 0, "more arrivals than expected")
  }

  public func wait() { ended.wait() }
}
