// Room: Events/MemoryLevels. How scarce memory is, by what was read at two moments. A pure function.
//            stalled in the time between        of a limit in use
//   warning  some tasks, a tenth                85 %
//   critical all tasks, a tenth                 95 %, or a process was killed for it
// A level is kept until there is clearly less: half the stalls, and five hundredths less of the limit in use.

extension MemoryLevel {
  /// In which stalls are counted, at least: the shorter, the more they are chance.
  static var shortestSpan: UInt64 { 1_000_000_000 }

  /// The level that follows `self`.
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
