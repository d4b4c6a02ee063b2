// Work from outside the pool, beside work that workers submit again and again. No threads: each
// test plays the worker, and counts picks.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("An overdue injector") struct OverdueTests {
  /// A pool without threads, and one worker, which the test plays.
  private struct Stage {
    let pool = Pool.own(width: 1, threads: 1, spawn: { _, _, _ in EAGAIN }, isWatched: false)
    let worker: Worker

    init() {
      worker = pool.makeWorker()
      worker.status.store(.running, ordering: .relaxed)
      pool.state.store(PoolState(rawValue: 1 << 48 | 1), ordering: .relaxed)
    }

    func inject(_ node: WorkNode, _ key: InjectorKey) {
      pool.withInjector(key) { $0.push(node) }
      pool.markWaiting(key)
    }

    /// Takes nodes and submits each again, as its item would, until `last` comes. Returns the
    /// number of picks; `nil` if `most` do not suffice. `before` is called before each pick.
    func picksUntil(_ last: WorkNode, kind: WorkKind, most: Int, before: (Int) -> Void) -> Int? {
      for pick in 1...most {
        before(pick)
        guard let node = pool.take(for: worker) else { return nil }
        pool.stopSearching(worker)
        if node == last { return pick }
        if worker.localQueue(kind).acceptsFromItem(.default) {
          worker.localQueue(kind).put(node, band: .default)
        } else {
          inject(node, InjectorKey(kind: kind, band: .default))
        }
      }
      return nil
    }
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `returns its last node soon, though 200 before it resubmit themselves`(
    kind: WorkKind, last: WorkKind
  ) {
    let stage = Stage()
    let block = NodeBlock(201)
    for node in block.nodes.dropLast() {
      stage.inject(node, InjectorKey(kind: kind, band: .default))
    }
    let probe = InjectorKey(kind: last, band: .default)
    stage.inject(block.nodes[200], probe)
    let picks = stage.picksUntil(block.nodes[200], kind: kind, most: 30_000) { _ in
      // No look passes: the worst case, since the worker reaches the injector at the end of a pass.
      stage.pool.setOverdue([
        InjectorSet(probe), InjectorSet(InjectorKey(kind: kind, band: .default)),
      ])
      stage.pool.overdueLook.store(0, ordering: .relaxed)
    }
    // Passes through 1, 3, 7, … 127 nodes, then a turn at each 122nd pick at least, and a pass
    // through 200. One node a turn would take 24,400.
    #expect(picks ?? .max < 800)
  }

  @Test func `returns a node at every other pick while long items delay the monitor's checks`() {
    let stage = Stage()
    let key = InjectorKey(kind: .items, band: .default)
    let block = NodeBlock(101)
    for node in block.nodes[..<100] { stage.worker.items.put(node, band: .default) }
    // The worker has just taken, and should run 100 nodes of its own.
    stage.worker.injectorTurn.took(atPick: 0, look: 0, queued: 100)
    let picks = stage.picksUntil(block.nodes[100], kind: .items, most: 30) { pick in
      if pick == 10 { stage.inject(block.nodes[100], key) }
      stage.pool.setOverdue(pick >= 10 ? InjectorSet(key) : [])
    }
    #expect(picks == 10)
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `need not be overdue to be reached once in a pass`(kind: WorkKind, last: WorkKind) {
    let stage = Stage()
    let block = NodeBlock(11)
    for node in block.nodes[..<10] { stage.worker.localQueue(kind).put(node, band: .default) }
    // The worker has just taken. By turns alone it would be some 120 picks.
    stage.worker.injectorTurn.took(atPick: 0, look: 0, queued: 10)
    let picks = stage.picksUntil(block.nodes[10], kind: kind, most: 30) { pick in
      if pick == 3 { stage.inject(block.nodes[10], InjectorKey(kind: last, band: .default)) }
    }
    #expect(picks == 11)
  }

  @Test func `is not reached in each pass through many nodes`() {
    let key = InjectorKey(kind: .items, band: .default)
    let own = InjectorTurn.fewNodes + 6
    // The system may stop the test for longer than from one turn to the next.
    let wasInTime = eventually {
      let stage = Stage()
      let block = NodeBlock(Int(own) + 1)
      for node in block.nodes.dropLast() { stage.worker.items.put(node, band: .default) }
      let last = block.nodes[Int(own)]
      stage.inject(last, key)
      // It takes more than a node at once, has just done so, and is near the end of the next pass.
      // The worker's turns by number alone are at other picks.
      stage.worker.injectorTurn.grew()
      stage.worker.picks.store(own - 2, ordering: .relaxed)
      let now = Clock.monotonicNanoseconds()
      _ = stage.worker.injectorTurn.passEnded(atPick: 0, queued: own, now: now)
      stage.worker.injectorTurn.took(atPick: 0, look: 0, queued: own)
      let early = stage.picksUntil(last, kind: .items, most: 6) { _ in }
      let isInTime = Clock.monotonicNanoseconds() - now < InjectorTurn.turnNanoseconds
      #expect(early == nil || !isInTime)
      let late = early ?? stage.picksUntil(last, kind: .items, most: 1_000) { _ in }
      #expect(late != nil)
      return isInTime
    }
    #expect(wasInTime)
  }

  @Test(arguments: WorkKind.allCases)
  func `returns many nodes in a turn, though items keep the local queue full`(kind: WorkKind) {
    let stage = Stage()
    let own = LocalQueue.capacity - LocalQueue.reserved
    let injected = LocalQueue.reserved
    let block = NodeBlock(own + injected)
    for node in block.nodes[..<own] { stage.worker.localQueue(kind).put(node, band: .default) }
    #expect(!stage.worker.localQueue(kind).acceptsFromItem(.default))
    for node in block.nodes[own...] { stage.inject(node, InjectorKey(kind: kind, band: .default)) }
    // It takes more than a node at once.
    for _ in 1...6 { stage.worker.injectorTurn.grew() }
    let last = block.nodes[own + injected - 1]
    let picks = stage.picksUntil(last, kind: kind, most: 30_000) { _ in }
    // One node in each pass through the local queue would take 16,000.
    #expect(picks ?? .max < 2 * LocalQueue.capacity)
  }

  @Test func `does not keep a worker from its own nodes`() {
    let stage = Stage()
    let key = InjectorKey(kind: .items, band: .default)
    let block = NodeBlock(1000)
    for node in block.nodes { stage.inject(node, key) }
    let own = NodeBlock(1)
    stage.worker.items.put(own.nodes[0], band: .default)
    var picks = 0
    // Each look finds the injector overdue, and passes before the next pick.
    while picks < 300 {
      picks += 1
      stage.pool.setOverdue(InjectorSet(key))
      let node = stage.pool.take(for: stage.worker)
      stage.pool.stopSearching(stage.worker)
      if node == own.nodes[0] { break }
    }
    #expect(picks < 10)
  }

  @Test(arguments: WorkKind.allCases)
  func `is found by the monitor, and only while its oldest node waits`(kind: WorkKind) {
    let stage = Stage()
    let (pool, monitor) = (stage.pool, stage.pool.monitor)
    let key = InjectorKey(kind: kind, band: .utility)
    var isOverdue: Bool {
      pool.injectorHints.load(ordering: .relaxed) >> InjectorHints.overdueShift
        == InjectorSet(key).rawValue
    }
    let block = NodeBlock(3)
    stage.inject(block.nodes[0], key)
    stage.inject(block.nodes[1], key)
    monitor.look(at: pool, hasWork: true)
    #expect(!isOverdue, "one look does not know how long the node has waited")
    let found = eventually {
      monitor.look(at: pool, hasWork: true)
      return isOverdue
    }
    #expect(found)
    // The monitor may have sent a lane to a thread that was refused.
    let taken = block.nodes[..<2].map { _ in pool.take(for: stage.worker) }
    #expect(block.nodes[..<2].allSatisfy(taken.contains))
    // A node that has just come does not wait yet. A look counts the whole time since the one
    // before, so only two in quick succession show that.
    let wereQuick = eventually {
      let begin = Clock.monotonicNanoseconds()
      monitor.look(at: pool, hasWork: false)
      stage.inject(block.nodes[2], key)
      monitor.look(at: pool, hasWork: true)
      let seen = pool.injectorHints.load(ordering: .relaxed)
      #expect(pool.take(for: stage.worker) == block.nodes[2])
      if Clock.monotonicNanoseconds() - begin >= InjectorTurn.overdueNanoseconds { return false }
      #expect(seen == InjectorSet(key).rawValue)
      return true
    }
    #expect(wereQuick)
  }

  /// The worker's own item is older than that of the injector.
  @Test func `waits for older items of a worker that runs, and not for long`() {
    let stage = Stage()
    let (pool, worker) = (stage.pool, stage.worker)
    let key = InjectorKey(kind: .items, band: .default)
    let block = NodeBlock(2)
    var isOverdue: Bool { pool.hints.overdue.contains(key) }
    func look() {
      // The worker picks between two looks.
      worker.picks.wrappingAdd(1, ordering: .relaxed)
      pool.monitor.look(at: pool, hasWork: true)
    }
    worker.items.put(block.nodes[0], band: .default)
    for _ in 0..<3 { look() }
    stage.inject(block.nodes[1], key)
    let begin = Clock.monotonicNanoseconds()
    spin {
      look()
      return Clock.monotonicNanoseconds() - begin >= 5 * InjectorTurn.overdueNanoseconds
    }
    // The system may have stopped the test.
    let wasQuick = Clock.monotonicNanoseconds() - begin < InjectorTurn.longestBehindLocal / 2
    #expect(!isOverdue || !wasQuick)
    let isLate = eventually {
      look()
      return isOverdue
    }
    #expect(isLate)
    #expect(Clock.monotonicNanoseconds() - begin >= InjectorTurn.longestBehindLocal / 2)
  }

  @Test func `does not wait for items of a worker that has stepped back`() {
    let key = InjectorKey(kind: .items, band: .default)
    // The system may stop the test, so it tries again. Beside a worker that runs, no try is quick.
    let isQuick = eventually {
      let stage = Stage()
      let (pool, worker) = (stage.pool, stage.worker)
      let block = NodeBlock(2)
      worker.items.put(block.nodes[0], band: .default)
      for _ in 0..<3 { pool.monitor.look(at: pool, hasWork: true) }
      stage.inject(block.nodes[1], key)
      worker.status.store(.away, ordering: .relaxed)
      let begin = Clock.monotonicNanoseconds()
      var isLate = false
      spin {
        pool.monitor.look(at: pool, hasWork: true)
        isLate = Clock.monotonicNanoseconds() - begin > InjectorTurn.longestBehindLocal / 2
        return isLate || pool.hints.overdue.contains(key)
      }
      return !isLate
    }
    #expect(isQuick)
  }

  @Test(arguments: [true, false])
  func `that is found empty is no longer overdue`(isMarked: Bool) {
    let stage = Stage()
    let key = InjectorKey(kind: .items, band: .default)
    stage.pool.setOverdue(InjectorSet(key))
    if isMarked { stage.pool.markWaiting(key) }
    stage.pool.unmarkIfEmpty(key)
    #expect(stage.pool.injectorHints.load(ordering: .relaxed) == 0)
  }
}

@Suite("The turn of an injector") struct InjectorTurnTests {
  @Test func `comes at once for a worker that never took from one`() {
    #expect(InjectorTurn().isDue(atPick: 1, look: 0))
  }

  @Test(arguments: [0, 7, UInt32.max - 5])
  func `comes after a pass through the worker's own nodes`(start: UInt32) {
    let turn = turn(atPick: start, look: 3)
    for pick in 1...10 as ClosedRange<UInt32> {
      #expect(!turn.isDue(atPick: start &+ pick, look: 3))
    }
    #expect(turn.isDue(atPick: start &+ 11, look: 3))
  }

  @Test func `comes at the end of each pass through few nodes`() {
    var turn = turn(atPick: 0, look: 0)
    let next = turn.passEnded(atPick: 11, queued: InjectorTurn.fewNodes, now: 1)
    #expect(next == .takes)
  }

  @Test func `comes once in half a millisecond for a worker with many nodes`() {
    var turn = turn(atPick: 0, look: 0)
    let many = InjectorTurn.fewNodes + 1
    let begin = InjectorTurn.turnNanoseconds
    let first = turn.passEnded(atPick: 11, queued: many, now: begin)
    turn.took(atPick: 11, look: 0, queued: many)
    let second = turn.passEnded(atPick: 12 + many, queued: many, now: 2 * begin - 1)
    #expect(first == .takes && second == .runsOwn)
    #expect(!turn.isPassOver(atPick: 12 + 2 * many))
    #expect(turn.isPassOver(atPick: 13 + 2 * many))
    let third = turn.passEnded(atPick: 13 + 2 * many, queued: many, now: 2 * begin)
    #expect(third == .takes)
  }

  @Test(arguments: [0, UInt32.max])
  func `comes at every other pick after a check by the monitor`(start: UInt32) {
    let turn = turn(atPick: start, look: .max)
    #expect(!turn.isDue(atPick: start &+ 1, look: 0))
    #expect(turn.isDue(atPick: start &+ 2, look: 0))
  }

  /// The turn of a worker that has taken, and then has ten nodes of its own.
  private func turn(atPick pick: UInt32, look: UInt32) -> InjectorTurn {
    var turn = InjectorTurn()
    turn.took(atPick: pick, look: look, queued: 10)
    return turn
  }
}
