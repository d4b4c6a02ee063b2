// Room: Pool/Patience. Whether a thread that has run out of work looks on for a while before it sleeps.
// Where two threads hand single items to each other, and one of them is none of the pool, as the main thread, both would
// sleep and be woken at each hand-over. Who was woken soon after it had gone to sleep may expect the same of the next
// time, and looks on for about as long as a sleep and a wake cost (Kernel/Spin). If that was in vain, the next
// sleep is begun at once, however short the one before was: so a stream of work that comes just too late for it costs
// every other time. A thread that had to give its CPU to another one stops: what it waits for may
// need that CPU, and would get it for one item at a time. Any thread's own.

import CLinux

struct Patience {
  private enum Expectation { case nothing, work, disappointed }
  private var expectation = Expectation.nothing

  /// For how long to look on.
  private static var nanoseconds: UInt64 { 25_000 }
  /// A call that gives the CPU to no other thread returns sooner.
  private static var longestYield: UInt64 { 2_000 }
  /// How often, before whoever else wants the CPU has it.
  private static var looksInTurn: Int { 16 }
  /// A sleep that was shorter, the time to wake up included, was not worth it.
  private static var shortSleep: UInt64 { 60_000 }

  var looksOn: Bool { expectation == .work }

  /// Looks until there is something, or for long enough.
  mutating func lookOn<Found>(_ look: () -> Found?) -> Found? {
    var now = Clock.monotonicNanoseconds()
    let end = now + Self.nanoseconds
    repeat {
      for _ in 0..<Self.looksInTurn {
        if let found = look() { return found }
        spinHint()
      }
      let before = Clock.monotonicNanoseconds()
      sched_yield()
      now = Clock.monotonicNanoseconds()
      // Another thread has had this CPU meanwhile.
      if now - before > Self.longestYield { break }
    } while now < end
    expectation = .disappointed
    return nil
  }

  mutating func slept(nanoseconds: UInt64) {
    let isWorthIt = expectation != .disappointed && nanoseconds < Self.shortSleep && Spin.limit > 0
    expectation = isWorthIt ? .work : .nothing
  }
}
