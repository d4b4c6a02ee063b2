// Room: Primitives/Parker. One thread sleeps until another, which names it, hands work to it.
//   0 waiting ─grant→ 1 granted
//   0 waiting ─sleep→ 2 asleep ─grant→ 1 granted, wake
// Invariant: prepare() precedes the publication of the thread's address to the granter, so no grant
// is lost. At most one grant answers each prepare(), so none is left over; a thread may withdraw
// under the lock through which it published itself (IO/FileRing, whose sleep may time out without
// that lock, tolerates a late grant). The word is in the thread's context, which outlives
// the thread: the granter may name it in its futex call after the waiter has continued.

/// The operations on a thread's parker word.
public enum Parker {
  /// Resets the word. Call before the calling thread publishes its address to a granter.
  public static func prepare(_ thread: ThreadContext) {
    // relaxed: the publication of the thread's address orders it.
    thread.withShared { $0.parker.store(0, ordering: .relaxed) }
  }

  /// Whether the grant has arrived. Acquiring: pairs with grant().
  public static func isGranted(_ thread: ThreadContext) -> Bool {
    thread.withShared { $0.parker.load(ordering: .acquiring) == 1 }
  }

  /// Sleeps until the grant. Returns false if `deadline` passed first.
  public static func sleep(_ thread: ThreadContext, until deadline: Deadline? = nil) -> Bool {
    thread.withShared { shared in
      let (first, seen) = shared.parker.compareExchange(
        expected: 0, desired: 2, successOrdering: .acquiring, failureOrdering: .acquiring)
      if !first && seen == 1 { return true }
      while shared.parker.load(ordering: .acquiring) != 1 {
        if futexWait(shared.parker, while: 2, until: deadline) == .timedOut {
          // The grant may have arrived after the timeout.
          return shared.parker.load(ordering: .acquiring) == 1
        }
      }
      return true
    }
  }

  /// Wakes `thread`. Releasing: the woken thread sees everything that the caller wrote before.
  public static func grant(_ thread: ThreadContext) {
    thread.withShared { shared in
      if shared.parker.exchange(1, ordering: .releasing) == 2 { futexWake(shared.parker) }
    }
  }
}
