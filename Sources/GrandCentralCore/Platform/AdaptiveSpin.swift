// Room: Platform/AdaptiveSpin. Decides whether to spin before a sleep, by recent success.
//   31…8 failed spins in a row │ 7…0 waits that still sleep at once
//   any ─missed→ one more failed spin, and twice as many waits sleep at once: 1, 3, 7 … 63
//   any ─found→ 0
// Where the other side has no CPU of its own, a spinning thread keeps it from running: a producer
// and a consumer on one CPU alternated for each item, at ten times the cost. Where it has a CPU,
// most spins succeed, and a failed one costs a single sleep.
// All accesses are relaxed loads and stores: concurrent changes lose a count.

struct SpinHistory: RawRepresentable, Equatable {
  let rawValue: UInt32
  init(rawValue: UInt32) { self.rawValue = rawValue }

  private static var maxMisses: UInt32 { 6 }

  private var misses: UInt32 { rawValue >> 8 }
  var toSkip: UInt32 { rawValue & 0xff }

  static let none = SpinHistory(rawValue: 0)

  /// Notes a wait that slept at once. Requires a wait to skip.
  func skipped() -> SpinHistory { SpinHistory(rawValue: rawValue - 1) }

  /// Notes a spin that ended in a sleep.
  func missed() -> SpinHistory {
    let misses = min(misses + 1, Self.maxMisses)
    return SpinHistory(rawValue: misses << 8 | (1 << misses - 1))
  }
}

struct AdaptiveSpin: ~Copyable, Sendable {
  private let word = Atomic<UInt32>(0)

  var history: SpinHistory { SpinHistory(rawValue: word.load(ordering: .relaxed)) }

  /// Calls `look` up to `most` times, with spin hints between, until it returns true. Returns
  /// whether it did. Does not call it if success is unlikely.
  @inline(__always)
  func look(atMost most: Int, _ look: () -> Bool) -> Bool {
    let before = history
    var after = before
    let isFound = after.look(atMost: most, look)
    if after != before { word.store(after.rawValue, ordering: .relaxed) }
    return isFound
  }
}

extension SpinHistory {
  /// As `AdaptiveSpin.look`, for a history with one owner.
  @inline(__always)
  mutating func look(atMost most: Int, _ look: () -> Bool) -> Bool {
    if most <= 0 { return false }
    if toSkip > 0 {
      self = skipped()
      return false
    }
    for _ in 0..<most {
      if look() {
        self = .none
        return true
      }
      spinHint()
    }
    self = missed()
    return false
  }
}

/// Spins of a thread that waits for one particular thread or item: in line for a lane, for a work
/// item, for a group. What they wait for is new each time, so the history is the waiting thread's:
/// one that submits an item and waits for it at once waits for a worker to wake up, which takes
/// longer than any spin, and will do the same the next time.
enum ThreadSpin {
  /// As `AdaptiveSpin.look`, for the calling thread.
  @inline(__always)
  static func look(_ thread: ThreadContext, atMost most: Int, _ look: () -> Bool) -> Bool {
    var history = SpinHistory(rawValue: UInt32(thread.pointee.spins))
    // A history takes 16 bits: at most 6 misses, and 63 waits to skip.
    defer { thread.pointee.spins = UInt16(truncatingIfNeeded: history.rawValue) }
    return history.look(atMost: most, look)
  }
}
