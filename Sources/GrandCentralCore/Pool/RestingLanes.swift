// Room: Pool/RestingLanes. How many lanes rested at one time lately.
// The pool learns only at a look of the monitor that the item of a lane sleeps unannounced. Lanes
// that come meanwhile wait for up to two milliseconds: with items of a millisecond, such as calls
// of read(2) or of a database, longer than they run. So the policy remembers for about a second how
// many lanes began to rest at one time, and new lanes may wake, or make, that many workers beyond
// the allowance at once, but for looks that find the CPUs scarce. If the items turn out to compute,
// the kernel shares the CPUs among them, until the next such look.

struct RestingLanes: Equatable {
  private var highest = RecentHighest(window: windowNanoseconds)

  static var windowNanoseconds: UInt64 { 500_000_000 }
  /// So many lanes of a worker's own stay in its local queue, if they come from a lane. Lanes that
  /// pass work on to each other run soonest one after the other on one worker.
  static var kept: Int { 4 }
  /// More rarely rest at one time. If they compute instead, each that has a worker runs to the end
  /// of its item.
  static func most(width: Int) -> Int { max(32, 8 * width) }

  func count(width: Int) -> Int { min(highest.value, Self.most(width: width)) }

  /// Notes how many lanes a look found that rest, and had begun an item or to rest since the look
  /// before. `left`: workers that have run a lane in that time, and have no node now. Beside lanes
  /// that rest, theirs probably did so too: of a burst of items of a millisecond a look sees the
  /// last ones only. Twice as many at most, so that one lane that sleeps says little about many
  /// that do not.
  mutating func note(resting: Int, left: Int, at now: UInt64) {
    highest.note(resting + min(left, 2 * resting), at: now)
  }
}

extension Pool {
  /// Wakes or makes a worker for a lane in an injector, although the allowance is in use, if lanes
  /// rested lately and fewer workers than those are active beyond it.
  @inline(never)
  func wakeForRestingLanes(seeing seen: PoolState) {
    let count = restingLanes.load(ordering: .relaxed)
    let most = threadsForRestingLanes
    guard seen.active < allowance + count, seen.idle > 0 || seen.threads < most,
      hasLane(in: hints.waiting)
    else { return }
    // A thread may be made: as in wakeOneMore().
    if seen.idle == 0 && configuration.readMask != nil { followMask() }
    wake(allowance: allowance + count, maxThreads: most)
  }

  /// Whether lanes rested lately, and the last look did not find the CPUs scarce.
  var lanesRest: Bool { restingLanes.load(ordering: .relaxed) != 0 }

  /// The maximum number of threads if the next one is for a lane that probably rests.
  var threadsForRestingLanes: Int {
    let count = restingLanes.load(ordering: .relaxed)
    return max(threadAllowance, min(configuration.softThreads, firstThreads + count))
  }

  /// Whether an injector of `waiting` has a lane. Leaves the hints of those that have none.
  func hasLane(in waiting: InjectorSet) -> Bool {
    waiting.lanes.intersection(configuration.injectors).indices.contains {
      !withInjector(at: $0) { $0.isEmpty }
    }
  }

  /// Whether the next lane of a worker goes to an injector, where wakeForRestingLanes() sees it.
  @inline(__always)
  func showsLanes(of worker: Worker) -> Bool {
    lanesRest && hasLanesToShow(worker)
  }

  @inline(never)
  private func hasLanesToShow(_ worker: Worker) -> Bool {
    let kept = worker.isInLane.load(ordering: .relaxed) ? RestingLanes.kept : 0
    return worker.lanes.count >= kept
      && beyondAllowance < restingLanes.load(ordering: .relaxed)
  }
}
