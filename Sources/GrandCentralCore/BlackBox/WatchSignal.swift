// Room: BlackBox/WatchSignal. Wakes the thread that watches the process's own board, if the program
// asked for one (Sources/Board/StuckWatch). Without one, a change costs a load and a branch where a
// thread is about to sleep.
//   0 none     ─beginLook→ 1 looking
//   1 looking  ─noteChange→ 2 changed     the watch has begun a look that may have missed it
//   1 looking  ─sleep→ 3 asleep           nothing has changed since the look began
//   3 asleep   ─noteChange→ 2 changed     wakes the watch
//   2, 3       ─beginLook→ 1 looking
//   any        ─remove, fork→ 0 none
// A thread writes its record, then notes the change. The watch begins a look, then reads records.
// The word's exchanges have one order. If the note comes before beginLook(), the look sees the
// record. If it comes after, the word is 2 and sleep() returns at once, or it is 3 and the note
// wakes the watch. So no change stays unseen while the watch sleeps.
// A note exchanges the word also where it is 2 already: a plain load might show the 2 of before
// beginLook().
import CGrandCentralLinux

struct WatchSignal: ~Copyable, Sendable {
  private static var none: UInt32 { 0 }
  private static var looking: UInt32 { 1 }
  private static var changed: UInt32 { 2 }
  private static var asleep: UInt32 { 3 }

  private let word = Atomic<UInt32>(none)

  /// Notes that a record has changed. Any thread.
  @inline(__always)
  func noteChange() {
    // relaxed: the state `none` ends while threads run, and nothing orders that against a record
    // that a thread has just written. The watch looks twice at its start for such a record.
    if word.load(ordering: .relaxed) != Self.none { markChanged() }
  }

  @inline(never)
  private func markChanged() {
    // relaxed: a guess that the exchange confirms.
    var seen = word.load(ordering: .relaxed)
    while seen != Self.none {
      // releasing: pairs with beginLook(), so that the look sees the record. Failure relaxed: a
      // guess again.
      let (won, now) = word.weakCompareExchange(
        expected: seen, desired: Self.changed, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if won { break }
      seen = now
    }
    if seen == Self.asleep { futexWake(word) }
  }

  // MARK: The watch. One thread at a time.

  /// Notes that the calling thread is about to read the board.
  func beginLook() {
    // acquiring: pairs with markChanged().
    _ = word.exchange(Self.looking, ordering: .acquiring)
  }

  /// Sleeps until a change since beginLook(). Returns true if the deadline passed first.
  func sleep(until deadline: Deadline?) -> Bool {
    // relaxed: only the order of this word's exchanges matters.
    let (won, _) = word.compareExchange(
      expected: Self.looking, desired: Self.asleep, ordering: .relaxed)
    guard won else { return false }
    // relaxed: beginLook() acquires.
    while word.load(ordering: .relaxed) == Self.asleep {
      if futexWait(word, while: Self.asleep, until: deadline) == .timedOut { return true }
    }
    return false
  }

  /// Ends the watch, or clears what a forked child inherits of it. A watch that sleeps wakes.
  func remove() {
    word.store(Self.none, ordering: .relaxed)
    futexWake(word)
  }
}
