// Room: Queues/LoneStart. How a nested loop of concurrentPerform starts: on its own thread alone.
// The loop around it occupies as many threads as there are CPUs, so helpers would rarely find one,
// and would cost more than a short loop takes. A loop that takes longer asks for helpers for the
// rest: the loop around it may be uneven, and its other threads may have ended.
// Not: a share of the CPUs that the loops around it leave, with no helpers later. One long loop
// inside an uneven loop would then leave CPUs idle.
// Consequence: a nested loop's first iterations must not wait for later ones. Loops have never
// promised more, because on one CPU all iterations run one after the other.

@usableFromInline
struct LoneStart {
  /// After this time a loop asks for helpers. About what it takes to wake a thread.
  static var nanoseconds: UInt64 { UInt64(scaled(5_000, inModels: 0)) }
  /// How many times as many iterations have run after a batch as before it, at most: the first
  /// iterations may be short and the next ones long.
  static var growth: Int { 16 }
  /// Bounds the products below.
  private static var maxCounted: Int { 1 << 20 }

  private let begin: UInt64

  @usableFromInline
  init() { begin = Clock.monotonicNanoseconds() }

  /// Whether the thread is in a loop that uses the pool's width.
  @usableFromInline
  static func isDue(on thread: ThreadContext) -> Bool { thread.pointee.in_full_loop }

  /// Runs iterations from 0 on until none is left or the time is over. Returns how many ran.
  @inlinable @inline(__always)
  static func run(_ iterations: Int, _ work: (Int) -> Void) -> Int {
    let start = LoneStart()
    var first = 0
    var end = 1
    repeat {
      for index in first..<end { work(index) }
      first = end
      end = start.nextEnd(after: first, of: iterations)
    } while end > first
    return first
  }

  @usableFromInline
  func nextEnd(after ran: Int, of iterations: Int) -> Int {
    if ran == iterations { return ran }
    // Signed: the difference is never negative, but a clock that disagrees must not stop a program.
    let spent = max(0, Int64(bitPattern: Clock.monotonicNanoseconds() &- begin))
    return ran + Self.batch(after: ran, remaining: iterations - ran, spent: UInt64(spent))
  }

  /// Returns how many iterations to run before the next look at the clock; 0 if the loop, which ran
  /// `ran` iterations in `spent` nanoseconds, asks for helpers.
  static func batch(after ran: Int, remaining: Int, spent: UInt64) -> Int {
    // The last iteration cannot be shared.
    if remaining == 1 { return 1 }
    if spent >= nanoseconds { return 0 }
    let counted = min(ran, maxCounted)
    let affordable = Int(nanoseconds - spent) * counted / max(1, Int(spent))
    return max(1, min(remaining, counted * (growth - 1), affordable))
  }
}
