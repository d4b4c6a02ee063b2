// Room: Primitives/Lock. A futex lock for the slow paths, where a few words change together.
// A thread that forks waits until nobody else holds one (ForkGate), so a child finds them all free, and what they guard
// whole.
//   0 free ─lock→ 1 held ─a second comes→ 2 held, somebody may sleep ─unlock→ 0, wake one
// Not Synchronization.Mutex: the thread sanitizer does not see through it and reports races that
// are none. Ulrich Drepper, "Futexes Are Tricky" (2011), the second mutex.

public import CLinux

/// Protects the data that its owner names beside it. Not recursive.
public struct Lock: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt32>(0)

  @inlinable public init() {}

  @inlinable @inline(__always)
  public borrowing func withLock<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result
  {
    lock()
    defer { unlock() }
    return try body()
  }

  @inlinable
  public borrowing func lock() {
    let thread = currentThread()
    if !gc_lock_enter(thread) { ForkGate.waitToEnter(thread) }
    lockPlainly()
  }

  @inlinable
  public borrowing func unlock() {
    unlockPlainly()
    gc_lock_leave(currentThread())
  }

  /// Without a look at the gate: for what a thread needs before it has a context.
  @inlinable
  borrowing func lockPlainly() {
    // acquiring: pairs with the releasing exchange in unlock().
    let (won, _) = word.compareExchange(
      expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
    if !won { lockSlowly() }
  }

  @inlinable
  borrowing func unlockPlainly() {
    // releasing: pairs with the acquiring exchanges in lock() and lockSlowly().
    if word.exchange(0, ordering: .releasing) == 2 { wake() }
  }

  @usableFromInline @inline(never)
  borrowing func wake() { futexWake(word) }

  @usableFromInline @inline(never)
  borrowing func lockSlowly() {
    for _ in 0..<scaled(64, inModels: 0) {
      spinHint()
      // relaxed: a guess that the exchange re-checks.
      guard word.load(ordering: .relaxed) == 0 else { continue }
      let (won, _) = word.compareExchange(
        expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if won { return }
    }
    // Taken as 2 from here on: this thread cannot know that it was the last sleeper.
    while word.exchange(2, ordering: .acquiring) != 0 {
      _ = futexWaitPlainly(word, while: 2)
    }
  }
}
