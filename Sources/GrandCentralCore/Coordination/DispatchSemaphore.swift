// Room: Coordination/DispatchSemaphore. A counting semaphore that enters the kernel only to sleep
// or to wake.
// The words and their protocol: SemaphoreState.swift. Two words, not one: an uncontended wait or
// signal is then one wrapping add, which cannot fail. A word with fields would need a loop of
// exchanges.
import CGrandCentralLinux

/// A counting semaphore. `wait()` takes a permit, `signal()` gives one.
///
/// Destroying a semaphore with fewer permits than it was created with stops the process.
///
/// ```swift
/// let slots = DispatchSemaphore(value: 4)
/// slots.wait()
/// defer { slots.signal() }
/// ```
/// - Source: `dispatch/semaphore.h` of the public reference.
// SAFETY: all shared state is atomic.
public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  @usableFromInline let value: Atomic<Int>
  private let handOff = Atomic<UInt64>(0)
  private let original: Int
  private let spinLimit: Int32
  let spin = AdaptiveSpin()

  /// Creates a semaphore with a number of permits.
  ///
  /// - Parameter value: the initial number of permits. A negative number stops the process.
  /// - Source: `dispatch_semaphore_create(3)`.
  public convenience init(value: Int) {
    self.init(value: value, spinLimit: Spin.maxLooks)
  }

  init(value: Int, spinLimit: Int) {
    require(value >= 0, "DispatchSemaphore(value: \(value)). Begin with 0 or more permits.")
    self.value = Atomic(value)
    self.original = value
    self.spinLimit = Int32(spinLimit)
    super.init()
  }

  deinit {
    endAttachment()
    // relaxed: the release of the last reference comes after all uses.
    let left = value.load(ordering: .relaxed)
    require(
      left >= original,
      """
      A DispatchSemaphore was destroyed while in use: it was made with \(original) permits and has \
      \(left) now. Call signal() once for every wait() before its last reference goes, or make it \
      with value 0 and signal() the permits.
      """)
  }

  /// Adds a permit, or hands it to a waiting thread.
  ///
  /// Call from any thread, but not from a signal handler. A call on a semaphore with `Int.max`
  /// permits stops the process.
  ///
  /// - Returns: 1 if the permit went to a waiting thread, else 0.
  /// - Source: `dispatch_semaphore_signal(3)`.
  @discardableResult @inlinable
  public func signal() -> Int {
    // releasing: publishes what this thread did to the thread that takes the permit in wait().
    // Every change of the value is a read-modify-write, so later changes continue the release
    // sequence.
    let was = SemaphoreValue(rawValue: value.wrappingAdd(1, ordering: .releasing).oldValue)
    return was.needsNoGrant ? 0 : grantSlowly(self)
  }

  /// Takes a permit; sleeps until there is one.
  ///
  /// Blocks the calling thread; the pool replaces a blocked worker.
  ///
  /// - Source: `dispatch_semaphore_wait(3)`.
  @inlinable
  public func wait() { _ = waitForPermit() }

  /// Takes a permit; sleeps until there is one, or until a deadline.
  ///
  /// Blocks the calling thread as `wait()` does.
  ///
  /// - Parameter timeout: the deadline. A deadline in the past polls once without blocking.
  /// - Returns: `.timedOut` if no permit came in time; then none was taken.
  /// - Source: `dispatch_semaphore_wait(3)`.
  @inlinable
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    wait(word: timeout.rawValue)
  }

  /// Takes a permit; sleeps until there is one, or until a date.
  ///
  /// Blocks the calling thread as `wait()` does.
  ///
  /// - Parameter wallTimeout: the deadline, which follows changes of the wall clock.
  /// - Returns: `.timedOut` if no permit came in time; then none was taken.
  /// - Source: `dispatch_semaphore_wait(3)`.
  @inlinable
  public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult {
    wait(word: wallTimeout.rawValue)
  }
}

extension DispatchSemaphore {
  /// Takes a permit, and returns C's word for that, 0: a C function ends with the call.
  @inlinable @inline(__always)
  package func waitForPermit() -> Int {
    // acquiring: pairs with the releasing add in signal().
    let was = SemaphoreValue(rawValue: value.wrappingSubtract(1, ordering: .acquiring).oldValue)
    return was.hadPermit ? 0 : awaitGrantSlowly(self)
  }

  /// Waits as `wait(timeout:)` does; the deadline is a C time value of any clock.
  @inlinable @inline(__always)
  package func wait(word: dispatch_time_t) -> DispatchTimeoutResult {
    // relaxed: a guess, so that polling an empty semaphore writes nothing.
    if value.load(ordering: .relaxed) <= 0 {
      // The deadline of every poll: it needs no decoding.
      if word == 0 { return .timedOut }
      return awaitPermitSlowly(self, word, isRegistered: false)
    }
    // acquiring: as in waitForPermit().
    let was = SemaphoreValue(rawValue: value.wrappingSubtract(1, ordering: .acquiring).oldValue)
    return was.hadPermit ? .success : awaitPermitSlowly(self, word, isRegistered: true)
  }

  func awaitPermit(_ word: dispatch_time_t, isRegistered: Bool) -> DispatchTimeoutResult {
    let limit = TimeLimit(word: word)
    if !isRegistered {
      // Before registering, so that a deadline in the past leaves nothing to undo.
      if limit.hasPassed { return .timedOut }
      // acquiring: as in waitForPermit().
      let was = SemaphoreValue(rawValue: value.wrappingSubtract(1, ordering: .acquiring).oldValue)
      if was.hadPermit { return .success }
    }
    return awaitGrant(until: limit)
  }

  func grant() -> Int {
    // relaxed: if another thread has taken a permit meanwhile, this one fits.
    let now = SemaphoreValue(rawValue: value.load(ordering: .relaxed))
    require(
      !now.hasOverflowed, "signal() on a DispatchSemaphore that has Int.max permits. Wait first.")
    if now.hasManyPermits { return gc_unknown(0) }
    // releasing: pairs with the acquiring exchange in take().
    let before = SemaphoreHandOff(
      rawValue: handOff.wrappingAdd(SemaphoreHandOff.oneGrant, ordering: .releasing).oldValue)
    if before.sleepers > 0 { futexWake(lowHalfOf: handOff) }
    return gc_unknown(1)
  }

  /// Spins, then sleeps, until the calling thread, a registered waiter, has a grant.
  func awaitGrant(until limit: TimeLimit) -> DispatchTimeoutResult {
    if spin.look(atMost: Spin.times(Int(spinLimit)), { take(asSleeper: false) }) {
      return .success
    }
    let wait = BoardWait(.semaphore, Unmanaged.passUnretained(self).toOpaque())
    return Blocking.announced(currentThread(), wait) { doze() ? sleep(until: limit) : .success }
  }

  /// Takes a grant if there is one.
  private func take(asSleeper: Bool) -> Bool {
    // relaxed: a guess that the exchange re-checks.
    var seen = SemaphoreHandOff(rawValue: handOff.load(ordering: .relaxed))
    while let next = seen.taken(bySleeper: asSleeper) {
      // acquiring: pairs with the releasing add in grant().
      let (won, now) = handOff.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, successOrdering: .acquiring,
        failureOrdering: .relaxed)
      if won { return true }
      seen = SemaphoreHandOff(rawValue: now)
    }
    return false
  }

  /// Counts the calling thread as a sleeper. Returns false if it took a grant instead.
  private func doze() -> Bool {
    var seen = SemaphoreHandOff(rawValue: handOff.load(ordering: .relaxed))
    while true {
      guard let next = seen.dozed() else {
        if take(asSleeper: false) { return false }
        seen = SemaphoreHandOff(rawValue: handOff.load(ordering: .relaxed))
        continue
      }
      // relaxed: records only that a thread sleeps; what the sleeper reads comes with its grant.
      let (won, now) = handOff.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, ordering: .relaxed)
      if won { return true }
      seen = SemaphoreHandOff(rawValue: now)
    }
  }

  private func sleep(until limit: TimeLimit) -> DispatchTimeoutResult {
    var deadline = limit.deadline
    while !take(asSleeper: true) {
      guard futexWait(lowHalfOf: handOff, while: 0, until: deadline) == .timedOut else { continue }
      if withdraw() {
        // relaxed: as in doze().
        handOff.wrappingSubtract(SemaphoreHandOff.oneSleeper, ordering: .relaxed)
        return .timedOut
      }
      // Signals have counted every registered waiter; a grant for each exists or is about to be
      // made. But a waiter that registers now may take this thread's grant and leave a negative
      // value, from which this thread can withdraw. No wake-up follows from that, so a late thread
      // checks again until it has a grant or has withdrawn.
      deadline = .monotonic(
        nanoseconds: Clock.monotonicNanoseconds() + Self.lookAgainNanoseconds)
    }
    return .success
  }

  /// The interval between these checks: how late a timeout may return when a signal coincides with
  /// it. It covers the signaller's time from one instruction to the next while it keeps its CPU.
  private static var lookAgainNanoseconds: UInt64 { 1_000_000 }

  /// Withdraws the registration. Returns false if a signal came first: it will grant.
  private func withdraw() -> Bool {
    // Adds 0: unlike a load this sees the latest value, on which the answer depends.
    var seen = SemaphoreValue(rawValue: value.wrappingAdd(0, ordering: .relaxed).newValue)
    while let next = seen.withdrawn() {
      // relaxed: withdrawing publishes nothing.
      let (won, now) = value.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, ordering: .relaxed)
      if won { return true }
      seen = SemaphoreValue(rawValue: now)
    }
    return false
  }
}

// Functions, not methods: a method has its own register for the object, which C functions would
// have to save first.

@usableFromInline @inline(never)
func grantSlowly(_ semaphore: DispatchSemaphore) -> Int { semaphore.grant() }

@usableFromInline @inline(never)
func awaitGrantSlowly(_ semaphore: DispatchSemaphore) -> Int {
  _ = semaphore.awaitGrant(until: .forever)
  return gc_unknown(0)
}

@usableFromInline @inline(never)
func awaitPermitSlowly(
  _ semaphore: DispatchSemaphore, _ word: dispatch_time_t, isRegistered: Bool
) -> DispatchTimeoutResult {
  semaphore.awaitPermit(word, isRegistered: isRegistered)
}
