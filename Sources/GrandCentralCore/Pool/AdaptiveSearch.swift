// Room: Pool/AdaptiveSearch. Decides whether a thread without work spins for a while before it
// sleeps. When a pool thread and another thread, such as the main thread, hand each other single
// items, both would sleep and wake at each hand-off. So a thread that was woken soon after it fell
// asleep expects the same the next time, and first spins for about what a sleep and a wake cost. If
// that finds nothing, the next sleep starts at once, however short the one before was: work that
// always comes just too late costs a failed spin only every other time. A thread stops as soon as
// it had to give its CPU to another thread: that thread may be the one that it waits for, and would
// get the CPU for one item at a time. Each value belongs to one thread.
//   nothing, work ─short sleep→ work     work ─failed search→ disappointed
//   nothing, work ─long sleep→ nothing   disappointed ─sleep→ nothing

import CGrandCentralLinux

struct AdaptiveSearch {
  private enum Expectation { case nothing, work, disappointed }
  private var expectation = Expectation.nothing

  /// How long to search before the thread sleeps.
  private static var nanoseconds: UInt64 { 25_000 }
  /// A call of sched_yield(2) that takes longer has given the CPU to another thread.
  private static var longestYield: UInt64 { 2_000 }
  /// Searches between two calls of sched_yield(2), which let other threads have the CPU.
  private static var looksInTurn: Int { 16 }
  /// A shorter sleep, including the time to wake up, was not worth it.
  private static var shortSleep: UInt64 { 60_000 }

  var isWorthwhile: Bool { expectation == .work }

  /// Calls `look` until it finds something or the time is over.
  mutating func search<Found>(_ look: () -> Found?) -> Found? {
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
      // Another thread used this CPU meanwhile.
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
