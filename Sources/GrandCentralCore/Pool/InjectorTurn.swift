// Room: Pool/InjectorTurn. When a worker with nodes of its own takes from an injector.
// Items that submit themselves again go to the local queue of their worker. Such a worker never
// searches, so it would take one node from an injector in some hundred picks. Nodes from outside
// the pool would wait behind each of them: one that others submit beside four such items of 10 µs
// for half a millisecond, and 200 of them behind 24,000 items.
// So while an injector of their band may hold nodes, the worker takes some, and appends them to its
// own queue: 1, 2, 4 … 64 while its items do not sleep. It does so
//   - once in a pass through its own queue, so that the older nodes there run first; with more than
//     `fewNodes` of its own, once in half a millisecond, at the end of a pass; and
//   - if the oldest node in the injector has waited for two milliseconds, as with long items, once
//     for each look of the monitor, at every other pick. The monitor then sets a bit beside the
//     injector's hint.
// Both the injector and the local queue make progress, whichever is refilled without end.
// A long queue of items that each submit two others overflows into the injector. Nodes that a
// worker then takes for its turn only push others out: with a turn in each pass, trees of empty
// items took 1.3 times as long on 32 cores.
// What items submit leaves `LocalQueue.reserved` slots of a local queue to these nodes. Without
// room a worker would take one in a turn: of 1,000 items that each submit one other, 500 are in
// the injector, and would wait for 250 passes each.
// The worker reads a clock in such passes only. Otherwise it reads the bits in the word of hints,
// which it reads anyway.

struct InjectorTurn {
  /// The pick at which the worker last took, found the injectors empty, or began another pass.
  private var pick: UInt32 = 0
  /// The number of picks until its own queue, as it was then, has run.
  private var pass: UInt32 = 0
  /// Whether a pass has begun since its own queue was empty.
  var isInPass = false
  /// The monitor's look when the worker last took, or found the injectors empty.
  private var look: UInt32 = 0
  /// When it last took at the end of a pass with many nodes of its own.
  private var taken: UInt64 = 0
  /// The number of nodes to take next. Not a ChunkSize: with many items of its own that submit
  /// themselves again, few nodes in a pass would keep those in the injector waiting for many.
  private(set) var most = least
  private static var least: Int { scaled(1, inModels: 64) }

  init() {}

  /// The worker takes at `pick`, and then has `queued` nodes of its own.
  mutating func took(atPick pick: UInt32, look: UInt32, queued: UInt32) {
    beginPass(atPick: pick, queued: queued)
    self.look = look
  }

  private mutating func beginPass(atPick pick: UInt32, queued: UInt32) {
    self.pick = pick
    pass = queued &+ 1
    isInPass = queued > 0
  }

  /// Notes that it took nodes: more the next time.
  mutating func grew() { most = min(2 * most, ChunkSize.most) }

  /// Notes that items sleep: nodes behind a sleeping one begin later than nodes that came after.
  mutating func sawSleep() { most = Self.least }

  enum AfterPass { case takes, runsOwn }

  /// What a worker with `queued` nodes of its own does at the end of a pass: it takes from an
  /// injector, or begins another pass.
  mutating func passEnded(
    atPick pick: UInt32, queued: UInt32, now: @autoclosure () -> UInt64
  ) -> AfterPass {
    if queued <= Self.fewNodes { return .takes }
    let now = now()
    guard now &- taken < Self.turnNanoseconds else {
      taken = now
      return .takes
    }
    beginPass(atPick: pick, queued: queued)
    return .runsOwn
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
  /// What a worker may have taken at once.
  static var fewNodes: UInt32 { UInt32(ChunkSize.most) }
  /// The time from one such turn to the next.
  static var turnNanoseconds: UInt64 { 500_000 }
  /// A node that waits in an injector for longer is overdue.
  static var overdueNanoseconds: UInt64 { 2_000_000 }
  /// For so long it waits for older ones in the queues of workers. Longer than a program's burst of
  /// items that are to start in order.
  static var longestBehindLocal: UInt64 { 100_000_000 }
}

extension Pool {
  /// Takes nodes from an injector of the band of the worker's own nodes, if it is its turn. A
  /// worker without nodes of its own searches, and needs no turn.
  @inline(__always)
  func takeBeforeOwn(
    _ hints: InjectorHints, band own: Band, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    let injectors = hints.waiting.only(own)
    if !injectors.isEmpty,
      worker.injectorTurn.isPassOver(atPick: worker.picks.load(ordering: .relaxed))
    {
      return takeAfterPass(hints, beforeOwn: own, first: first, for: worker)
    }
    if hints.overdue.isEmpty { return nil }
    return takeOverdue(hints, first: first, for: worker)
  }

  /// The same at the end of a pass. Where a worker takes single nodes, they push none of its own
  /// out, so its turn comes in each pass.
  @inline(never)
  private func takeAfterPass(
    _ hints: InjectorHints, beforeOwn own: Band, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    noteSleeps(of: worker)
    // A copy, as in search().
    var turn = worker.injectorTurn
    // Its queue was empty, and has been filled by an item since. What the same item has put into
    // the injector is newer.
    guard turn.isInPass || !hints.overdue.only(own).isEmpty else {
      beginPass(of: worker)
      return nil
    }
    if turn.most > 1 && !lanesRest {
      let next = turn.passEnded(
        atPick: worker.picks.load(ordering: .relaxed), queued: worker.queuedNodes,
        now: Clock.monotonicNanoseconds())
      worker.injectorTurn = turn
      if next == .runsOwn { return nil }
    }
    return take(hints.waiting.only(own), beforeOwn: own, first: first, for: worker)
  }

  /// The same from an injector that is overdue, also at every other pick after a look.
  @inline(never)
  func takeOverdue(
    _ hints: InjectorHints, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    let own = worker.bandInLocalQueues
    let overdue = hints.overdue.only(own)
    let pick = worker.picks.load(ordering: .relaxed)
    let look = overdueLook.load(ordering: .relaxed)
    guard !overdue.isEmpty, worker.injectorTurn.isDue(atPick: pick, look: look) else { return nil }
    return take(overdue, beforeOwn: own, first: first, for: worker)
  }

  @inline(never)
  private func take(
    _ injectors: InjectorSet, beforeOwn own: Band, first: WorkKind, for worker: Worker
  ) -> WorkNode? {
    guard let below = Band(rawValue: own.rawValue &- 1) else { return nil }
    var node: WorkNode?
    if hasNode(in: injectors) {
      // A thread in a lowered class does not count as a searcher. It takes as many, or short items
      // would wait for one long item of its own each; and then wakes a worker as after a
      // submission: a scan may have missed a node on its way (Pool+Park).
      let isLow = runsLow(worker)
      if !isLow { beginSearch(worker) }
      node = takeForTurn(of: worker) {
        takeInjected(injectors, above: below, atMost: $0, first: first, for: worker)
      }
      if isLow { wakeIfNeeded() }
    }
    beginPass(of: worker)
    return node
  }

  /// Takes with `take`, which is given the number of nodes, for a worker that has nodes of its own.
  @inline(__always)
  func takeForTurn(of worker: Worker, _ take: (Int) -> WorkNode?) -> WorkNode? {
    noteSleeps(of: worker)
    guard let node = take(worker.injectorTurn.most) else { return nil }
    // A copy, as in search().
    var turn = worker.injectorTurn
    turn.grew()
    worker.injectorTurn = turn
    return node
  }

  /// Begins a pass through the worker's own queue: it has just taken a chunk, or found the
  /// injectors empty.
  func beginPass(of worker: Worker) {
    // A copy, as in search().
    var turn = worker.injectorTurn
    turn.took(
      atPick: worker.picks.load(ordering: .relaxed), look: overdueLook.load(ordering: .relaxed),
      queued: worker.queuedNodes)
    worker.injectorTurn = turn
  }

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
