// Room: Coordination/SemaphoreState. The two words of a semaphore.
//
// value, signed: permits left if positive, else minus the number of registered waiters.
//   wait    value - 1   was > 0: a permit, done            was ≤ 0: registered
//   signal  value + 1   was ≥ 0: done                      was < 0: grants to a registered waiter
// hand-off: 63…32 sleepers │ 31…0 grants
//   grant   grants + 1, wake one if there are sleepers
//   take    grants - 1 (and sleepers - 1 by a sleeper)
//   doze    sleepers + 1, only while grants = 0; the thread sleeps while the low half is 0
//
// Invariant: registered waiters = max(0, -value) + grants made or about to be made. So a waiter
// that gives up may do so only by taking its -1 back from a negative value. If the value is no
// longer negative, there are as many grants as registered waiters, but a later one may be faster to
// take one; it is then negative again.
// No wake is lost: dozing and granting change one word, so either the doze sees the grant, or the
// grant sees the sleeper; and the futex call compares the low half once more. Which waiter gets a
// grant is open: a woken one that comes too late sleeps again, and a later grant wakes it.

/// What a semaphore's value was before a change by one.
@usableFromInline
struct SemaphoreValue: Hashable, Sendable {
  @usableFromInline let rawValue: Int
  @inlinable init(rawValue: Int) { self.rawValue = rawValue }

  /// wait(): a permit was left, and is taken now.
  @inlinable var hadPermit: Bool { rawValue > 0 }

  /// signal(): nobody waits, and one more permit fits. One comparison: negative values are large
  /// ones.
  @inlinable var needsNoGrant: Bool { UInt(bitPattern: rawValue) < UInt(Int.max) }

  /// signal(): one more permit does not fit.
  var isFull: Bool { rawValue == .max }
}

extension SemaphoreValue {
  /// A registered waiter less. `nil` when every one has been counted by a signal.
  func withdrawn() -> SemaphoreValue? {
    rawValue < 0 ? SemaphoreValue(rawValue: rawValue + 1) : nil
  }
}

/// Grants on their way to waiters, and waiters that must be woken for them.
struct SemaphoreHandOff: Hashable, Sendable {
  let rawValue: UInt64

  static let oneGrant: UInt64 = 1
  static let oneSleeper: UInt64 = 1 << 32

  var grants: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
  var sleepers: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

  /// A grant less, to a waiter that is counted as a sleeper or not. `nil` when there is none.
  func taken(bySleeper: Bool) -> SemaphoreHandOff? {
    grants == 0
      ? nil : SemaphoreHandOff(rawValue: rawValue - (bySleeper ? Self.oneSleeper : 0) - 1)
  }

  /// A sleeper more. `nil` when a grant is there to be taken instead.
  func dozed() -> SemaphoreHandOff? {
    grants == 0 ? SemaphoreHandOff(rawValue: rawValue + Self.oneSleeper) : nil
  }
}
