// Purpose: one value that some thread sets and one waiter receives.
//   1 claimed   a thread has the right to set the value; all others come too late
//   2 set       the value is there
//   4 awaited   the waiter is there
//   complete    sets claimed; writes the value; sets set       ─was awaited→ resumes the waiter
//   await       writes the waiter; sets awaited                ─was set→ resumes the waiter
// Bits are only ever set. The value is written by the thread that set `claimed`, before it sets
// `set`; the waiter before `awaited`. Each of these two read-modify-writes releases what was
// written before it and acquires what the other one released, so the later of the two sees both
// the value and the waiter, and it alone resumes.
// Invariants: at most one thread completes, and one waiter waits. The waiter is resumed once.
// Models: Verification/Models/Scenes/OneShotModels.swift. Test of races: RunTests, `runs or is
// removed, once, beside cancellation`.
#if !GRANDCENTRAL_MODEL
  import GrandCentralCore
#endif

// SAFETY: the word orders all accesses to the cells, as argued above.
final class OneShot<Waiting: Waiter>: @unchecked Sendable {
  private let word = Atomic<UInt32>(0)
  @Cell private var value: Waiting.Value?
  @Cell private var waiter: Waiting?

  private static var claimed: UInt32 { 1 }
  private static var set: UInt32 { 2 }
  private static var awaited: UInt32 { 4 }

  /// Claims the right to set the value. False: another thread has claimed it.
  func claim() -> Bool {
    // relaxed: claims, and publishes nothing.
    word.bitwiseOr(Self.claimed, ordering: .relaxed).oldValue & Self.claimed == 0
  }

  /// Sets the value. For the thread that has claimed it, once.
  func set(_ value: sending Waiting.Value) {
    self.value = value
    // releasing: publishes the value to await(). acquiring: pairs with await(), for the waiter.
    let was = word.bitwiseOr(Self.set, ordering: .acquiringAndReleasing).oldValue
    if was & Self.awaited != 0 { resume() }
  }

  /// Sets the value, unless another thread was faster. Returns whether it did.
  @discardableResult
  func complete(_ value: sending Waiting.Value) -> Bool {
    guard claim() else { return false }
    set(value)
    return true
  }

  /// Resumes `waiter` with the value: now, or when it is set. Call once.
  func await(_ waiter: Waiting) {
    self.waiter = waiter
    // releasing: publishes the waiter to set(). acquiring: pairs with set(), for the value.
    let was = word.bitwiseOr(Self.awaited, ordering: .acquiringAndReleasing).oldValue
    if was & Self.set != 0 { resume() }
  }

  private func resume() {
    guard let waiter = waiter.take(), let value = value.take() else { return }
    // SAFETY: the value was sent to set(), and is taken out once.
    nonisolated(unsafe) let sent = value
    waiter.resume(with: sent)
  }
}
