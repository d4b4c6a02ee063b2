// Room: Primitives/Parker. One thread waits for one hand-over; the other side names the thread.
//   0 waiting ─grant→ 1 granted
//   0 waiting ─sleep→ 2 asleep ─grant→ 1 granted, wake
// prepare() comes before the thread's address is published to whoever grants, so no grant is lost,
// and each prepare() is answered by exactly one grant, so none is left over. The word lives in the
// thread's context, which outlives the thread: the granter may still name it in its futex call after
// the waiter has gone on.

public enum Parker {
  /// Before the calling thread publishes itself to a granter.
  public static func prepare(_ thread: ThreadContext) {
    // relaxed: published by whatever hands the thread's address over.
    thread.withShared { $0.parker.store(0, ordering: .relaxed) }
  }

  /// Whether the grant has come. Acquiring: pairs with grant().
  public static func isGranted(_ thread: ThreadContext) -> Bool {
    thread.withShared { $0.parker.load(ordering: .acquiring) == 1 }
  }

  /// Sleeps until granted, or until `deadline`; false means that the deadline came first.
  public static func sleep(_ thread: ThreadContext, until deadline: Deadline? = nil) -> Bool {
    thread.withShared { shared in
      let (first, seen) = shared.parker.compareExchange(
        expected: 0, desired: 2, successOrdering: .acquiring, failureOrdering: .acquiring)
      if !first && seen == 1 { return true }
      while shared.parker.load(ordering: .acquiring) != 1 {
        if futexWait(shared.parker, while: 2, until: deadline) == .timedOut {
          // The grant may have come between the time-out and here.
          return shared.parker.load(ordering: .acquiring) == 1
        }
      }
      return true
    }
  }

  /// Lets `thread` go on. Releasing: all that the caller wrote is seen by the woken thread.
  public static func grant(_ thread: ThreadContext) {
    thread.withShared { shared in
      if shared.parker.exchange(1, ordering: .releasing) == 2 { futexWake(shared.parker) }
    }
  }
}
