// Room: Pool/InjectorTurn. When a worker with nodes of its own takes from an injector.
// Items that submit themselves again go to the local queue of their worker. Such a worker never
// searches, so it would take one node from an injector in some hundred picks. Nodes from outside
// the pool would wait behind each of them: one that others submit beside four such items of 10 µs
// for half a millisecond, and 200 of them behind 24,000 items.
// So while an injector of their band may hold nodes, the worker takes as many as a searcher would,
// and appends them to its own queue. It does so
//   - once in a pass through its own queue, so that the older nodes there run first, and
//   - if the oldest node in the injector has waited for two milliseconds, as with long items, once
//     for each look of the monitor, at every other pick. The monitor then sets a bit beside the
//     injector's hint.
// Both the injector and the local queue make progress, whichever is refilled without end.
// The worker reads no clock: it reads the bits in the word of hints, which it reads anyway.

struct InjectorTurn {
  /// The pick at which the worker last took, or found the injectors empty.
  private var pick: UInt32 = 0
  /// The number of picks until its own queue, as it was then, has run.
  private var pass: UInt32 = 0
  /// The monitor's look at that time.
  private var look: UInt32 = 0

  init() {}

  /// The worker takes at `pick`, and then has `queued` nodes of its own.
  init(pick: UInt32, look: UInt32, queued: UInt32) {
    self.pick = pick
    self.look = look
    pass = queued &+ 1
  }

  /// Whether the worker's own queue has run since. The counts wrap around: a worker that returns
  /// after 2³² picks may wait for one more pass.
  @inline(__always)
  func isPassOver(atPick now: UInt32) -> Bool { now &- pick >= pass }

  /// Whether the worker may take at `pick` from an injector that is overdue.
  func isDue(atPick now: UInt32, look nowLook: UInt32) -> Bool {
    isPassOver(atPick: now) || now &- pick >= 2 && nowLook != look
  }
}

extension InjectorTurn {
  /// A node that waits in an injector for longer is overdue.
  static var overdueNanoseconds: UInt64 { 2_000_000 }
}

extension Pool {
  /// Publishes which injectors are overdue. Monitor only.
  func setOverdue(_ overdue: InjectorSet) {
    // relaxed, here and below: hints. A worker that misses a change sees it at a later pick.
    let seen = hints.overdue
    let shift = InjectorHints.overdueShift
    let (begins, ends) = (overdue.subtracting(seen), seen.subtracting(overdue))
    if !begins.isEmpty { injectorHints.bitwiseOr(begins.rawValue << shift, ordering: .relaxed) }
    if !ends.isEmpty { injectorHints.bitwiseAnd(~(ends.rawValue << shift), ordering: .relaxed) }
    if !overdue.isEmpty { overdueLook.wrappingAdd(1, ordering: .relaxed) }
  }
}
