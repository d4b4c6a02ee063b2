// Room: Pool/LanesBehindItems. Lanes that lately waited while items held the CPUs.
// Long items on all CPUs, also those of other lanes, keep a lane of their class waiting for two
// looks of the monitor, which then sends one worker. A thread that asks a serial queue again and
// again would wait so for many of its requests. So for a second after a lane of class default or
// above has waited, such lanes may wake or make workers beyond the allowance at once, up to three
// times the width: the kernel shares the CPUs among them and the others. So where only long lanes
// wait, up to four times the width of them run. Lanes of lower classes wait, as their items do.
// Beside short items, a lane that waits as long waits for a CPU. Further workers would only take it
// from others, and from consumers that run as items.

struct LanesBehindItems: Equatable {
  /// In monotonic nanoseconds.
  private var end: UInt64 = 0

  static var nanoseconds: UInt64 { 1_000_000_000 }
  /// More than one: twice as many long lanes as CPUs are common, and more come beside them.
  static var widths: Int { 3 }

  /// Notes whether a look found such a lane.
  mutating func note(_ hasWaited: Bool, at now: UInt64) {
    if hasWaited { end = now + Self.nanoseconds }
  }

  /// The workers that such lanes may have beyond the allowance.
  func count(width: Int, at now: UInt64) -> Int { now < end ? Self.widths * width : 0 }
}

extension Pool {
  /// The workers that lanes of a class may have beyond the allowance before the monitor looks.
  @inline(__always)
  func lanesAtOnce(for band: Band) -> Int {
    // relaxed: hints of the last look.
    let resting = restingLanes.load(ordering: .relaxed)
    return band < .default ? resting : max(resting, lanesBehindItems.load(ordering: .relaxed))
  }

  /// Wakes or makes a worker for such a lane in an injector, although the allowance is in use. Its
  /// submitter may have seen a searcher that steps back.
  @inline(never)
  func wakeForLaneBehindItems(seeing seen: PoolState) {
    let allowed = allowance + lanesBehindItems.load(ordering: .relaxed)
    let threads = threadsBehindOthers
    guard seen.active < allowed, seen.idle > 0 || seen.threads < threads,
      hasLane(in: hints.waiting.from(.default))
    else { return }
    // As in wakeOneMore().
    if seen.idle == 0 && configuration.readMask != nil { followMask() }
    wake(allowance: allowed, maxThreads: threads)
  }
}
