// Room: Coordination/Once. Runs a body once; other threads wait until it has returned.
// The word, which C programs keep in their own memory:
//   0                      not begun
//   31…1 tid │ 0 waiters   that thread runs the body
//   all ones               done
//   0 ─begin→ running ─finish→ done;  running ─await→ running, with sleeping threads
// "Done" is all ones because the C header inlines that comparison. A thread id fits its bits:
// pid_max is at most 2^22, proc(5). Waiters sleep on the low half.

struct OnceState: Hashable, Sendable {
  let rawValue: UInt64

  static let fresh = OnceState(rawValue: 0)
  static let done = OnceState(rawValue: .max)

  var hasWaiters: Bool { rawValue & 1 != 0 }
  var lowHalf: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
  /// The thread that runs the body; 0 before and after.
  var runner: UInt32 { self == .done ? 0 : lowHalf >> 1 }

  /// Not begun → `thread` runs the body.
  func begun(by thread: UInt32) -> OnceState? {
    self == .fresh ? OnceState(rawValue: UInt64(thread) << 1) : nil
  }

  /// Running → running, with a sleeping thread. `nil` unless running.
  func awaited() -> OnceState? {
    self == .fresh || self == .done ? nil : OnceState(rawValue: rawValue | 1)
  }
}

/// Runs a body once.
struct Once: ~Copyable, Sendable {
  private let word = Atomic<UInt64>(0)

  /// Runs `body` unless it has run; returns when it has run and its effects are visible.
  borrowing func run(_ body: () -> Void) { Once.run(word, body) }

  /// Does the same on a word in other memory, initially 0.
  static func run(
    _ word: borrowing Atomic<UInt64>, spinLimit: Int = Spin.limit, _ body: () -> Void
  ) {
    // acquiring: pairs with the releasing exchange in runSlowly().
    if word.load(ordering: .acquiring) != OnceState.done.rawValue {
      runSlowly(word, spinLimit: spinLimit, body)
    }
  }

  @inline(never)
  private static func runSlowly(
    _ word: borrowing Atomic<UInt64>, spinLimit: Int, _ body: () -> Void
  ) {
    let thread = currentThread()
    var spins = 0
    // acquiring, here and below: a failed exchange may find the word done.
    var seen = OnceState(rawValue: word.load(ordering: .acquiring))
    while seen != .done {
      if let next = seen.begun(by: thread.pointee.tid) {
        let (won, now) = word.compareExchange(
          expected: seen.rawValue, desired: next.rawValue, successOrdering: .relaxed,
          failureOrdering: .acquiring)
        guard won else {
          seen = OnceState(rawValue: now)
          continue
        }
        body()
        // releasing: pairs with the acquiring loads of the other threads.
        let before = OnceState(
          rawValue: word.exchange(OnceState.done.rawValue, ordering: .releasing))
        // The word's memory may be gone by now; a futex call on it then wakes no thread.
        if before.hasWaiters { futexWake(lowHalfOf: word, count: .max) }
        return
      }
      require(
        seen.runner != thread.pointee.tid,
        """
        Recursion in dispatch_once: thread \(seen.runner) came again to what it is running for the \
        first time, and would wait for itself. Break the cycle, or initialise the parts apart.
        """)
      if spins < spinLimit {
        spins += 1
        spinHint()
      } else {
        sleep(word, from: seen, thread)
      }
      seen = OnceState(rawValue: word.load(ordering: .acquiring))
    }
  }

  private static func sleep(
    _ word: borrowing Atomic<UInt64>, from seen: OnceState, _ thread: ThreadContext
  ) {
    guard let next = seen.awaited() else { return }
    if seen != next {
      // relaxed: records only that a thread sleeps.
      let (won, _) = word.compareExchange(
        expected: seen.rawValue, desired: next.rawValue, ordering: .relaxed)
      if !won { return }
    }
    withUnsafePointer(to: word) { word in
      Blocking.announced(thread, BoardWait(once: word, runner: next.runner)) {
        _ = futexWait(lowHalfOf: word.pointee, while: next.lowHalf)
      }
    }
  }
}
