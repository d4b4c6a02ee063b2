// Room: Coordination/SemaphoreState. The two words of a semaphore.
//
// value, signed: the permits left if positive, else minus the number of registered waiters.
//   wait    value - 1   was > 0: a permit, done            was ≤ 0: registered
//   signal  value + 1   was ≥ 0: done                      was < 0: grants to a registered waiter
// hand-off: 63…32 sleepers │ 31…0 grants
//   grant   grants + 1, wake one thread if there are sleepers
//   take    grants - 1 (and sleepers - 1 by a sleeper)
//   doze    sleepers + 1, only while grants = 0; the thread sleeps while the low half is 0
//
// Invariant: registered waiters = max(0, -value) + grants made or about to be made. So a waiter
// that times out may withdraw only by adding 1 to a negative value. Once the value is not negative,
// each registered waiter has a grant, made or about to be made. A later waiter may take it first;
// the value is then negative again.
// No wake-up is lost: dozing and granting change the same word, so either the doze sees the grant,
// or the grant sees the sleeper; and the futex call compares the low half again. Any waiter may
// take a grant: a woken thread that finds none sleeps again, and a later grant wakes it.
// In a forked child the parent's waiters stay registered, and take nothing. Each signal makes a
// grant while they outnumber the signals, and any waiter of the child takes it, so no permit is
// lost. Only a wait whose deadline has passed does not see such a grant, since it reads the value.

/// The value of a semaphore before a wait or a signal.
@usableFromInline
struct SemaphoreValue: Hashable, Sendable {
  @usableFromInline let rawValue: Int
  @inlinable init(rawValue: Int) { self.rawValue = rawValue }

  /// wait(): a permit was left and is now taken.
  @inlinable var hadPermit: Bool { rawValue > 0 }

  /// signal(): no thread waits, and the permit fits. Both are one look at the two highest bits: a
  /// permit may not fit where there are a quarter of all numbers already, and grant() decides.
  @inlinable var needsNoGrant: Bool { UInt(bitPattern: rawValue) >> (Int.bitWidth - 2) == 0 }

  /// After a signal(): the permit did not fit. No process has as many waiters.
  var hasOverflowed: Bool { rawValue < .min / 2 }

  /// After a signal() that saw many permits, or a waiter: there were many permits. Fewer signals
  /// and waits run at the same time.
  var hasManyPermits: Bool { rawValue > .max / 4 }
}

extension SemaphoreValue {
  /// Withdraws one registered waiter. `nil` if signals have counted every waiter.
  func withdrawn() -> SemaphoreValue? {
    rawValue < 0 ? SemaphoreValue(rawValue: rawValue + 1) : nil
  }
}

/// The grants that waiters have not taken yet, and the waiters that must be woken for them.
struct SemaphoreHandOff: Hashable, Sendable {
  let rawValue: UInt64

  static let oneGrant: UInt64 = 1
  static let oneSleeper: UInt64 = 1 << 32

  var grants: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
  var sleepers: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

  /// Takes one grant, for a waiter that counts as a sleeper or not. `nil` if there is none.
  func taken(bySleeper: Bool) -> SemaphoreHandOff? {
    grants == 0
      ? nil : SemaphoreHandOff(rawValue: rawValue - (bySleeper ? Self.oneSleeper : 0) - 1)
  }

  /// Adds a sleeper. `nil` if there is a grant to take instead.
  func dozed() -> SemaphoreHandOff? {
    grants == 0 ? SemaphoreHandOff(rawValue: rawValue + Self.oneSleeper) : nil
  }
}
