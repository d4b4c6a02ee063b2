// Room: Coordination/DispatchSemaphore. A counting semaphore that enters the kernel only to sleep
// or to wake. The words and their protocol: SemaphoreState.swift. Not one word for all: an
// uncontended wait or signal is then one wrapping add, which cannot fail, where a word with fields
// would need a loop of exchanges.
import CLinux

/// Counts permits. `wait()` takes one, or sleeps until there is one; `signal()` gives one.
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

  /// Makes a semaphore with so many permits.
  ///
  /// - Parameter value: permits to begin with. A negative number is a client's mistake, which stops
  ///   the process.
  public convenience init(value: Int) {
    self.init(value: value, spinLimit: Spin.most)
  }

  init(value: Int, spinLimit: Int) {
    require(value >= 0, "DispatchSemaphore(value: \(value)). Begin with 0 or more permits.")
    self.value = Atomic(value)
    self.original = value
    self.spinLimit = Int32(spinLimit)
    super.init()
  }

  deinit {
    endAttachment(on: Runtime.shared.root(.default))
    // relaxed: whoever drops the last reference has all uses behind it.
    let left = value.load(ordering: .relaxed)
    require(
      left >= original,
      """
      A DispatchSemaphore was destroyed while in use: it was made with \(original) permits and has \
      \(left) now. Call signal() once for every wait() before its last reference goes, or make it \
      with value 0 and signal() the permits.
      """)
  }

  /// Gives a permit.
  ///
  /// Call from any thread, a signal handler excepted.
  ///
  /// - Returns: 1 if the permit went to a thread that was waiting, else 0.
  /// - Source: `dispatch_semaphore_signal(3)`.
  @discardableResult @inlinable
  public func signal() -> Int {
    // releasing: what this thread did before is seen by whoever takes the permit in wait(). Every
    // change of the value is a read-modify-write, so later ones by others keep that promise.
    let was = SemaphoreValue(rawValue: value.wrappingAdd(1, ordering: .releasing).oldValue)
    return was.needsNoGrant ? 0 : grantSlowly(self, was)
  }

  /// Takes a permit; sleeps until there is one.
  ///
  /// Blocks the calling thread; a worker lets another take its place meanwhile.
  ///
  /// - Source: `dispatch_semaphore_wait(3)`.
  @available(*, noasync, message: "it would block a thread of the concurrency pool")
  @inlinable
  public func wait() {
    // acquiring: pairs with the releasing add in signal().
    let was = SemaphoreValue(rawValue: value.wrappingSubtract(1, ordering: .acquiring).oldValue)
    if !was.hadPermit { awaitGrantSlowly(self) }
  }

  /// Takes a permit; sleeps until there is one, but not past a deadline.
  ///
  /// - Parameter timeout: the deadline. One that has passed makes this a look without a sleep.
  /// - Returns: `.timedOut` if no permit came in time; then none was taken.
  /// - Source: `dispatch_semaphore_wait(3)`.
  @available(*, noasync, message: "it would block a thread of the concurrency pool")
  @inlinable
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    wait(word: timeout.rawValue)
  }

  /// Takes a permit; sleeps until there is one, but not past a date.
  ///
  /// - Parameter wallTimeout: the deadline, which follows when the clock is set.
  /// - Returns: `.timedOut` if no permit came in time; then none was taken.
  /// - Source: `dispatch_semaphore_wait(3)`.
  @available(*, noasync, message: "it would block a thread of the concurrency pool")
  @inlinable
  public func wait(wallTimeout: DispatchWallTime) -> DispatchTimeoutResult {
    wait(word: wallTimeout.rawValue)
  }
}

extension DispatchSemaphore {
  /// As `wait(timeout:)`, with a deadline of any clock as C's word.
  @inlinable @inline(__always)
  package func wait(word: dispatch_time_t) -> DispatchTimeoutResult {
    // relaxed: a guess, so that a look at an empty semaphore writes nothing.
    if value.load(ordering: .relaxed) <= 0 {
      return awaitPermitSlowly(self, word, isRegistered: false)
    }
    // acquiring: as in wait().
    let was = SemaphoreValue(rawValue: value.wrappingSubtract(1, ordering: .acquiring).oldValue)
    return was.hadPermit ? .success : awaitPermitSlowly(self, word, isRegistered: true)
  }

  func awaitPermit(_ word: dispatch_time_t, isRegistered: Bool) -> DispatchTimeoutResult {
    let limit = TimeLimit(word: word)
    if !isRegistered {
      // Before registering: if the deadline has passed there is then nothing to undo.
      if limit.hasPassed { return .timedOut }
      // acquiring: as in wait().
      let was = SemaphoreValue(rawValue: value.wrappingSubtract(1, ordering: .acquiring).oldValue)
      if was.hadPermit { return .success }
    }
    return awaitGrant(until: limit)
  }

  func grant(_ was: SemaphoreValue) -> Int {
    require(!was.isFull, "signal() on a DispatchSemaphore that has Int.max permits. Wait first.")
    // releasing: pairs with the acquiring exchange in take().
    let before = SemaphoreHandOff(
      rawValue: handOff.wrappingAdd(SemaphoreHandOff.oneGrant, ordering: .releasing).oldValue)
    if before.sleepers > 0 { futexWake(lowHalfOf: handOff) }
    return 1
  }

  /// For a registered waiter: looks for a while, then sleeps.
  func awaitGrant(until limit: TimeLimit) -> DispatchTimeoutResult {
    if spin.look(atMost: Spin.times(Int(spinLimit)), { take(asSleeper: false) }) {
      return .success
    }
    return Blocking.announced(currentThread()) { doze() ? sleep(until: limit) : .success }
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

  /// Counts the calling thread as a sleeper. False: it took a grant instead.
  private func doze() -> Bool {
    var seen = SemaphoreHandOff(rawValue: handOff.load(ordering: .relaxed))
    while true {
      guard let next = seen.dozed() else {
        if take(asSleeper: false) { return false }
        seen = SemaphoreHandOff(rawValue: handOff.load(ordering: .relaxed))
        continue
      }
      // relaxed: it says only that somebody sleeps; what the sleeper reads comes with its grant.
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
      // Signals have counted everybody who is registered, and a grant for each is there or about to be. But
      // a waiter that registers now may take this one's, and leaves it a place that can be taken back. No
      // wake-up tells of that, so a late thread looks again until it has one or the other.
      deadline = .monotonic(
        nanoseconds: Clock.monotonicNanoseconds() + Self.lookAgainNanoseconds)
    }
    return .success
  }

  /// How late a deadline may be told of when a signal comes with it: the time that the signaller needs
  /// from one instruction to the next, if it keeps its CPU.
  private static var lookAgainNanoseconds: UInt64 { 1_000_000 }

  /// Takes the registration back. False: a signal was faster, and will grant.
  private func withdraw() -> Bool {
    // An addition of nothing: unlike a load it sees the latest value, on which the answer depends.
    var seen = SemaphoreValue(rawValue: value.wrappingAdd(0, ordering: .relaxed).newValue)
    while let next = seen.withdrawn() {
      // relaxed: nothing is handed over by giving up.
      let (won, now) = value.weakCompareExchange(
        expected: seen.rawValue, desired: next.rawValue, ordering: .relaxed)
      if won { return true }
      seen = SemaphoreValue(rawValue: now)
    }
    return false
  }
}

// Functions, not methods: those have a register of their own for the object, which C's functions would have to save first.

@usableFromInline @inline(never)
func grantSlowly(_ semaphore: DispatchSemaphore, _ was: SemaphoreValue) -> Int {
  semaphore.grant(was)
}

@usableFromInline @inline(never)
func awaitGrantSlowly(_ semaphore: DispatchSemaphore) { _ = semaphore.awaitGrant(until: .forever) }

@usableFromInline @inline(never)
func awaitPermitSlowly(
  _ semaphore: DispatchSemaphore, _ word: dispatch_time_t, isRegistered: Bool
) -> DispatchTimeoutResult {
  semaphore.awaitPermit(word, isRegistered: isRegistered)
}
