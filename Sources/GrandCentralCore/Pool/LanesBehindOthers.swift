// Room: Pool/LanesBehindOthers. Lanes that lately waited while others held the CPUs.
// Long items on all CPUs, also those of other lanes, keep a lane of their class waiting for two
// looks of the monitor, which then sends one worker. A thread that asks a serial queue again and
// again would wait so for many of its requests. So for a second after a lane of class default or
// above has waited, such lanes may wake or make workers beyond the allowance at once, up to three
// times the width: the kernel shares the CPUs among them and the others. So where only long lanes
// wait, up to four times the width of them run. Lanes of lower classes wait, as their items do.
//
// The same if other programs use the CPUs. With N workers on N CPUs beside M busy threads of other
// programs, the pool gets N / (N + M) of the CPUs. If lanes need more, they wait longer and longer,
// and what a worker had begun or queued when it lost its CPU waits with it. Of requests that pass
// six serial queues, 50 µs in each, and need 0.6 of two CPUs beside four busy threads, half took
// more than 2 ms in many runs, and one in ten more than 5; with further workers half took 0.33 ms,
// and one in ten 2.5 ms or more. There are two further workers for each CPU that the process does
// not get, since each has only a part of one. Threads of the program's own count with the workers:
// when they did not, a main thread that draws frames beside full queues drew 42 of them in 1.2 s,
// where it had drawn 70. Beside programs of another control group further threads get no more of
// the CPUs, and change little. There are none under a quota: they would use it up sooner, and then
// all threads wait for its next period.
//
// Beside short items, a lane that waits as long waits for a CPU that workers use. Further ones
// would only take it from others, and from consumers that run as items.

struct LanesBehindOthers: Equatable {
  private var highest = RecentHighest(window: nanoseconds)
  /// When all numbers are forgotten, in monotonic nanoseconds.
  private var end: UInt64 = 0

  static var nanoseconds: UInt64 { 1_000_000_000 }
  /// More than one: twice as many long lanes as CPUs are common, and more come beside them.
  static var widths: Int { 3 }

  /// Notes for how many workers a look found reason; 0: for none.
  mutating func note(_ wanted: Int, at now: UInt64) {
    highest.note(wanted, at: now)
    if wanted > 0 { end = now + Self.nanoseconds }
  }

  /// The workers that such lanes may have beyond the allowance.
  func count(width: Int, at now: UInt64) -> Int {
    now < end ? min(highest.value, Self.widths * width) : 0
  }
}

extension GrowthPolicy {
  /// How many workers lanes may have beyond the allowance, as LanesBehindOthers.
  func lanesBehindOthers(_ waiting: Waiting, _ books: Books) -> Int {
    guard (waiting.oldestUrgentLane ?? 0) >= thresholds.maxLaneWait else { return 0 }
    if look.longItems + look.longLanes >= books.width {
      return LanesBehindOthers.widths * books.width
    }
    let all = UInt64(books.width) * 1_000_000_000
    guard !books.isQuota, look.busy - look.inMappings >= books.width,
      let used = books.usedPerSecond,
      used < all - all / thresholds.othersShare
    else { return 0 }
    // Rounded up.
    return Int((2 * (all - used) + 999_999_999) / 1_000_000_000)
  }
}

extension Pool {
  /// The workers that lanes of a class may have beyond the allowance before the monitor looks.
  @inline(__always)
  func lanesAtOnce(for band: Band) -> Int {
    // relaxed: hints of the last look.
    let resting = restingLanes.load(ordering: .relaxed)
    return band < .default ? resting : max(resting, lanesBehindOthers.load(ordering: .relaxed))
  }

  /// Wakes or makes a worker for such a lane in an injector, although the allowance is in use. Its
  /// submitter may have seen a searcher that steps back.
  @inline(never)
  func wakeForLaneBehindOthers(seeing seen: PoolState) {
    let allowed = allowance + lanesBehindOthers.load(ordering: .relaxed)
    let threads = threadsBehindOthers
    guard seen.active < allowed, seen.idle > 0 || seen.threads < threads,
      hasLane(in: hints.waiting.from(.default))
    else { return }
    // As in wakeOneMore().
    if seen.idle == 0 && configuration.readMask != nil { followMask() }
    wake(allowance: allowed, maxThreads: threads)
  }
}
