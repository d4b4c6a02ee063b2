// Room: Sources/Memory/MemoryLevels. The level of memory pressure, as a pure function of two
// samples.
//            stalled between the samples        of a limit in use
//   warning  some tasks, 10 %                   85 %
//   critical all tasks, 10 %                    95 %, or a process was killed for it
// A level is kept until pressure is clearly lower: half the stalls, and five percentage points less
// of the limit.

extension MemoryLevel {
  /// The shortest span over which stalls are counted, in nanoseconds. Over shorter spans the share
  /// is mostly chance.
  static var shortestSpan: UInt64 { 1_000_000_000 }

  /// Returns the level that follows `self`, for samples that are `nanoseconds` apart.
  func next(
    from before: MemorySample, to now: MemorySample, nanoseconds: UInt64,
    shortestSpan: UInt64 = Self.shortestSpan
  ) -> MemoryLevel {
    let usage = now.usage ?? 0
    if now.kills > before.kills { return .critical }
    var reached: MemoryLevel =
      usage >= Self.criticalShare ? .critical : usage >= Self.warningShare ? .warning : .normal
    var kept: MemoryLevel =
      usage >= Self.criticalShare - 0.05
      ? .critical : usage >= Self.warningShare - 0.05 ? .warning : .normal
    if nanoseconds < max(1, shortestSpan) {
      kept = .critical
    } else {
      let some = Self.share(before.some, now.some, nanoseconds)
      let full = Self.share(before.full, now.full, nanoseconds)
      reached = max(reached, full >= 0.1 ? .critical : some >= 0.1 ? .warning : .normal)
      kept = max(kept, full >= 0.05 ? .critical : some >= 0.05 ? .warning : .normal)
    }
    return max(reached, min(self, kept))
  }

  private static func share(_ before: UInt64?, _ now: UInt64?, _ nanoseconds: UInt64) -> Double {
    guard let before, let now, now > before else { return 0 }
    return Double(now - before) * 1000 / Double(nanoseconds)
  }
}
