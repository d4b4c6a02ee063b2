// Waits that do not use the engine under test. They use POSIX locks only, so a lost wake-up in the
// engine fails an expectation instead of blocking the test run. Synchronization.Mutex is not used:
// the thread sanitizer reports false races on it.
import Glibc

/// The limit of any wait in a test, in seconds. It is generous: a correct test never reaches it.
/// GRANDCENTRAL_DEADLINE sets it for slower machines.
public let deadlineSeconds = variable("GRANDCENTRAL_DEADLINE").flatMap { Int($0) } ?? 60

/// A lock and condition in stable memory.
public final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  public init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Changes state under the lock, then wakes every waiter.
  public func change<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withLock {
      defer { pthread_cond_broadcast(condition) }
      return try body()
    }
  }

  /// Waits until `condition()` holds under the lock. Returns false after `seconds`.
  public func wait(seconds: Int, until isTrue: () -> Bool) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += seconds
    let hasCome = withLock {
      while !isTrue() {
        if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return isTrue() }
      }
      return true
    }
    if !hasCome && seconds >= deadlineSeconds { describeStandstill() }
    return hasCome
  }
}

/// A latch that opens after a number of events.
public final class Latch: @unchecked Sendable {
  private let monitor = Monitor()
  private var remaining: Int

  public init(_ count: Int = 1) { remaining = count }

  public func open() { monitor.change { remaining -= 1 } }

  /// Waits for the last event. Returns false on timeout.
  public func wait(seconds: Int = deadlineSeconds) -> Bool {
    monitor.wait(seconds: seconds) { remaining <= 0 }
  }

  public var isOpen: Bool { monitor.withLock { remaining <= 0 } }
}

/// A list that any thread may append to.
public final class Log<Element: Sendable>: @unchecked Sendable {
  private let monitor = Monitor()
  private var elements: [Element] = []

  public init() {}

  public func append(_ element: Element) { monitor.change { elements.append(element) } }
  public var all: [Element] { monitor.withLock { elements } }
  public var count: Int { monitor.withLock { elements.count } }

  /// Waits until the list has `count` elements. Returns false on timeout.
  public func waitForCount(_ count: Int, seconds: Int = deadlineSeconds) -> Bool {
    monitor.wait(seconds: seconds) { elements.count >= count }
  }
}

/// A number that any thread may change, with the largest and smallest value that it has had.
public final class Counter: @unchecked Sendable {
  private let monitor = Monitor()
  private var current = 0
  private var highest = 0
  private var lowest = 0

  public init() {}

  @discardableResult
  public func add(_ amount: Int = 1) -> Int {
    monitor.change {
      current += amount
      highest = max(highest, current)
      lowest = min(lowest, current)
      return current
    }
  }

  public var value: Int { monitor.withLock { current } }
  public var peak: Int { monitor.withLock { highest } }
  public var floor: Int { monitor.withLock { lowest } }

  /// Waits until the number is at least `value`. Returns false on timeout.
  public func waitForValue(_ value: Int, seconds: Int = deadlineSeconds) -> Bool {
    monitor.wait(seconds: seconds) { current >= value }
  }
}

/// A variable that one thread writes and another reads later.
public final class Box<Value>: @unchecked Sendable {
  private let monitor = Monitor()
  private var stored: Value

  public init(_ value: Value) { stored = value }

  public var value: Value {
    get { monitor.withLock { stored } }
    set { monitor.change { stored = newValue } }
  }
}

/// A variable without a lock. It is correct only while the engine keeps its promises of exclusion
/// and ordering, so the thread sanitizer checks those promises.
public final class Unguarded<Value>: @unchecked Sendable {
  public var value: Value
  public init(_ value: Value) { self.value = value }
}

/// Calls a closure when it is deinitialized.
public final class Witness: Sendable {
  private let onEnd: @Sendable () -> Void
  public init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
  deinit { onEnd() }
}
