// Room: Primitives/Lock. A futex lock for the slow paths, where several words change together.
//   0 free ─lock→ 1 held ─a second locks→ 2 held, a thread may sleep ─unlock→ 0, wake one
// A forking thread waits until no other thread holds a lock (ForkGate). So a child finds all locks
// free and the data that they guard whole.
// Not Synchronization.Mutex: the thread sanitizer does not see through it and reports false races.
// Ulrich Drepper, "Futexes Are Tricky" (2011), the second mutex.

public import CGrandCentralLinux

/// A lock for the data declared beside it. Not recursive.
public struct Lock: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt32>(0)

  @inlinable public init() {}

  /// Runs `body` with the lock held.
  @inlinable @inline(__always)
  public borrowing func withLock<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result
  {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Takes the lock; sleeps while another thread holds it.
  @inlinable
  public borrowing func lock() {
    let thread = currentThread()
    if !gc_lock_enter(thread) { ForkGate.waitToEnter(thread) }
    lockPlainly()
  }

  /// Releases the lock and wakes one sleeping thread, if there may be one.
  @inlinable
  public borrowing func unlock() {
    unlockPlainly()
    gc_lock_leave(currentThread())
  }

  /// Takes the lock without the fork gate, for a thread that may have no context yet.
  @inlinable
  borrowing func lockPlainly() {
    // acquiring: pairs with the releasing exchange in unlockPlainly().
    let (won, _) = word.compareExchange(
      expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
    if !won { lockSlowly() }
  }

  @inlinable
  borrowing func unlockPlainly() {
    // releasing: pairs with the acquiring exchanges in lockPlainly() and lockSlowly().
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
    // Taken as 2 from here on: this thread cannot know whether others still sleep.
    while word.exchange(2, ordering: .acquiring) != 0 {
      _ = futexWaitPlainly(word, while: 2)
    }
  }

  /// Takes the lock if it is free and no thread forks. Returns whether it did.
  @inlinable
  public borrowing func tryLock() -> Bool {
    // relaxed: a guess that the exchange re-checks.
    guard word.load(ordering: .relaxed) == 0 else { return false }
    let thread = currentThread()
    if gc_lock_enter(thread) {
      // acquiring: as in lockPlainly().
      let (won, _) = word.compareExchange(
        expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if won { return true }
    }
    gc_lock_leave(thread)
    return false
  }
}
