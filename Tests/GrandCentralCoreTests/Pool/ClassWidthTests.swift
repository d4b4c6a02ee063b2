// The number of workers for each class. Items compute, so that none is counted as asleep.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A pool that is full of one class") struct ClassWidthTests {
  private static let classes: [Band] = [
    .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  /// Items that compute until they are stopped.
  private final class Busy: Sendable {
    private let isOver = Number()
    let begun = Number()
    private let ended = Number()

    func begin(_ band: Band, kind: WorkKind = .items, in pool: Pool) {
      pool.submit(kind, band: band) { [self] in
        begun.add()
        spin { isOver.now > 0 }
        ended.add()
      }
    }

    func stop() -> Bool {
      isOver.add()
      return eventually { ended.now == begun.now }
    }
  }

  @Test(arguments: WorkKind.allCases, [1, 2])
  func `starts a thread for higher work at once`(_ kind: WorkKind, width: Int) {
    let pool = Pool.own(width: width, threads: 20)
    let low = Busy()
    for _ in 0..<width { low.begin(.utility, kind: kind, in: pool) }
    #expect(eventually { low.begun.now == width })
    let high = Latch()
    pool.submit(kind, band: .userInteractive) { high.open() }
    #expect(high.wait())
    #expect(low.stop())
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `starts one for each class above`() {
    let pool = Pool.own(width: 1, threads: 20)
    let busy = Busy()
    for (number, band) in Self.classes.enumerated() {
      busy.begin(band, in: pool)
      #expect(eventually { busy.begun.now == number + 1 }, "\(band)")
    }
    #expect(busy.stop())
    #expect(pool.faultsAtRest() == [])
  }

  /// An item of a lower class submits work of a higher class.
  @Test func `starts one for higher work that its own items submit`() {
    let pool = Pool.own(width: 1, threads: 20)
    let inner = Latch()
    let outer = Latch()
    pool.submit(band: .background) {
      pool.submit(band: .default) { inner.open() }
      spin { inner.isOpen }
      outer.open()
    }
    #expect(outer.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test(arguments: [1, 2, 3])
  func `keeps that class to the width`(width: Int) {
    // Without a monitor: see OwnPoolTests.
    let pool = Pool.own(width: width, threads: 20, isWatched: false)
    let inside = Number()
    let done = Latch(60)
    for _ in 0..<60 {
      pool.submit(band: .userInteractive) {
        inside.add()
        let end = monotonicSeconds() + 0.0005
        spin { monotonicSeconds() >= end }
        inside.add(-1)
        done.open()
      }
    }
    #expect(done.wait())
    #expect(inside.peak <= width)
    #expect(pool.faultsAtRest() == [])
  }

  @Test func `holds others of its class until its item has ended`() {
    // No monitor: it makes room for others after an item has run for a second.
    let pool = Pool.own(width: 1, threads: 20, isWatched: false)
    let order = Log<Band>()
    let busy = Busy()
    busy.begin(.default, in: pool)
    #expect(eventually { busy.begun.now == 1 })
    let done = Latch(3)
    // These wait: the one worker that may be active is at work in their class.
    for band in [Band.default, .default, .default] {
      pool.submit(band: band) {
        order.append(band)
        done.open()
      }
    }
    #expect(order.count == 0)
    #expect(busy.stop())
    #expect(done.wait())
    #expect(order.count == 3)
    #expect(pool.faultsAtRest() == [])
  }

  /// A worker that is woken for higher work often finds that another worker has taken it.
  @Test(arguments: WorkKind.allCases, [1, 2])
  func `keeps it to the width beside higher work that submits itself again`(
    _ kind: WorkKind, width: Int
  ) {
    // Without a monitor: see OwnPoolTests.
    let pool = Pool.own(width: width, threads: 20, isWatched: false)
    let inside = Number()
    let isOver = Number()
    let ended = Latch(4 * width)
    @Sendable func compute() {
      inside.add()
      for _ in 0..<2000 { spinHint() }
      inside.add(-1)
      if isOver.now > 0 { ended.open() } else { pool.submit(kind, band: .background, compute) }
    }
    for _ in 0..<4 * width { pool.submit(kind, band: .background, compute) }
    for _ in 0..<stressed(200) {
      let done = Latch()
      @Sendable func step(_ left: Int) {
        if left == 0 { return done.open() }
        pool.submit(kind, band: .userInitiated) { step(left - 1) }
      }
      #expect(eventually { inside.now > 0 })
      step(20)
      #expect(done.wait())
    }
    isOver.add()
    #expect(ended.wait())
    #expect(inside.peak <= width)
    #expect(pool.faultsAtRest() == [])
  }

  /// No item of the higher class ends; the monitor starts workers for the lower classes.
  @Test(arguments: WorkKind.allCases, [1, 2])
  func `lets each lower class continue, however long the items are`(_ kind: WorkKind, width: Int) {
    let pool = Pool.own(width: width, threads: 20)
    let high = Busy()
    for _ in 0..<width { high.begin(.userInteractive, in: pool) }
    #expect(eventually { high.begun.now == width })
    let low = Log<Band>()
    for _ in 0..<2 {
      for band in Self.classes.dropLast() { pool.submit(kind, band: band) { low.append(band) } }
    }
    #expect(low.waitForCount(8), "\(low.all)")
    #expect(high.stop())
    #expect(pool.faultsAtRest() == [])
  }
}

/// No threads: each test plays a worker that was woken while another one runs a lower class.
@Suite("A worker beyond the allowance") struct BeyondAllowanceTests {
  /// A pool of width 1. One worker runs in `band`, and `worker` searches.
  private struct Stage: @unchecked Sendable {
    let pool = Pool.own(width: 1, threads: 2, spawn: { _, _, _ in EAGAIN }, isWatched: false)
    let worker, other: Worker
    private let block = NodeBlock(8)

    init(running band: Band) {
      other = pool.makeWorker()
      worker = pool.makeWorker()
      for active in [other, worker] { active.status.store(.running, ordering: .relaxed) }
      worker.isSearching = true
      pool.state.store(PoolState(rawValue: 2 << 48 | 1 << 16 | 2), ordering: .relaxed)
      pool.enter(band, other)
    }

    /// Puts the node with that number into an injector.
    func inject(_ number: Int, _ band: Band, _ kind: WorkKind = .items) -> WorkNode {
      let key = InjectorKey(kind: kind, band: band)
      pool.withInjector(key) { $0.push(block.nodes[number]) }
      pool.markWaiting(key)
      return block.nodes[number]
    }

    /// Leaves the mark of an injector whose last node another worker has taken.
    func leaveMark(_ band: Band) { pool.markWaiting(InjectorKey(kind: .items, band: band)) }
  }

  @Test(arguments: WorkKind.allCases)
  func `takes the work of a higher class, and no other`(kind: WorkKind) {
    let stage = Stage(running: .background)
    _ = stage.inject(0, .background, kind)
    let urgent = stage.inject(1, .userInitiated, kind)
    #expect(stage.pool.takeNext(for: stage.worker) == urgent)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    #expect(stage.pool.hasWork())
  }

  @Test func `takes none if the work of a higher class is gone, and clears its mark`() {
    let stage = Stage(running: .background)
    _ = stage.inject(0, .background)
    stage.leaveMark(.userInitiated)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    let background = InjectorKey(kind: .items, band: .background)
    #expect(stage.pool.injectorHints.load(ordering: .relaxed) == InjectorSet(background).rawValue)
  }

  @Test func `takes work of a class between the two`() {
    let stage = Stage(running: .background)
    _ = stage.inject(0, .background)
    let between = stage.inject(1, .utility)
    stage.leaveMark(.userInitiated)
    #expect(stage.pool.takeNext(for: stage.worker) == between)
  }

  @Test func `takes none of its own queued work that has the class of the others`() {
    let stage = Stage(running: .default)
    let block = NodeBlock(1)
    stage.worker.items.put(block.nodes[0], band: .default)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    #expect(stage.worker.items.count == 1)
  }

  @Test func `takes higher work beside its own queued work, and moves none`() {
    let stage = Stage(running: .background)
    let block = NodeBlock(3)
    stage.worker.items.put(block.nodes[0], band: .background)
    let injected = [stage.inject(0, .default), stage.inject(1, .default)]
    let robbed = stage.pool.makeWorker()
    for node in block.nodes[1...] { robbed.items.put(node, band: .utility) }
    for node in injected {
      #expect(stage.pool.takeNext(for: stage.worker) == node)
      stage.pool.stopSearching(stage.worker)
    }
    stage.leaveMark(.utility)
    #expect(stage.pool.takeNext(for: stage.worker) == block.nodes[1])
    #expect(stage.worker.items.count == 1 && robbed.items.count == 1)
  }

  @Test func `takes a lane while lanes may have more workers`() {
    let stage = Stage(running: .default)
    _ = stage.inject(0, .default)
    let lane = stage.inject(1, .default, .lanes)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    stage.pool.lanesBeyond.store(1, ordering: .relaxed)
    #expect(stage.pool.takeNext(for: stage.worker) == lane)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
  }

  @Test func `takes an item after each lane, where no other worker has one`() {
    let stage = Stage(running: .default)
    stage.pool.lanesBeyond.store(1, ordering: .relaxed)
    stage.other.isInLane.store(true, ordering: .relaxed)
    let block = NodeBlock(2)
    let lanes = (0..<3).map { stage.inject($0, .default, .lanes) }
    let injected = stage.inject(3, .default)
    let robbed = stage.pool.makeWorker()
    robbed.items.put(block.nodes[1], band: .default)
    stage.worker.items.put(block.nodes[0], band: .default)
    let expected = [lanes[0], injected, lanes[1], block.nodes[0], lanes[2], block.nodes[1]]
    for node in expected { #expect(stage.pool.takeNext(for: stage.worker) == node) }
  }

  @Test(arguments: [Band.default, .utility])
  func `takes a lane in place of a lower item, or of any where another worker has one`(
    band: Band
  ) {
    let stage = Stage(running: .default)
    stage.pool.lanesBeyond.store(1, ordering: .relaxed)
    stage.other.isInLane.store(band == .utility, ordering: .relaxed)
    let lanes = (0..<4).map { stage.inject($0, .default, .lanes) }
    _ = stage.inject(4, band)
    for lane in lanes { #expect(stage.pool.takeNext(for: stage.worker) == lane) }
  }

  @Test(arguments: WorkKind.allCases)
  func `takes work of a starved class and kind until its turn is over`(kind: WorkKind) {
    let stage = Stage(running: .default)
    let key = InjectorKey(kind: kind, band: .utility)
    var nodes = (0..<3).map { stage.inject($0, .utility, kind) }
    _ = stage.inject(3, .utility, kind.other)
    _ = stage.inject(4, .background, kind)
    stage.worker.starvedTurn = StarvedTurn(of: key, until: .max)
    while !nodes.isEmpty {
      let node = stage.pool.takeNext(for: stage.worker)
      guard let place = nodes.firstIndex(where: { $0 == node }) else {
        Issue.record("took \(String(describing: node))")
        return
      }
      nodes.remove(at: place)
    }
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    #expect(stage.worker.starvedTurn == nil)
    // Nor does it begin another node after its time.
    _ = stage.inject(5, .utility, kind)
    stage.worker.starvedTurn = StarvedTurn(of: key, until: 0)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    #expect(stage.worker.starvedTurn == nil)
  }

  @Test func `takes what waits for a starved class in an injector, beside its own items`() {
    let stage = Stage(running: .default)
    let block = NodeBlock(4)
    for node in block.nodes { stage.worker.items.put(node, band: .utility) }
    let injected = stage.inject(0, .utility)
    stage.worker.starvedTurn = StarvedTurn(
      of: InjectorKey(kind: .items, band: .utility), until: .max)
    let taken = (0..<4).map { _ in stage.pool.takeNext(for: stage.worker) }
    #expect(taken.contains { $0 == injected }, "\(taken)")
  }

  @Test func `the turn of a starved class begins with its first look, and ends by the clock`() {
    var turn = StarvedTurn(of: InjectorKey(kind: .items, band: .utility))
    let times: [UInt64] = [1_000_000, 2_999_999, 3_000_000, 4_000_000]
    let lasts = times.map { turn.lasts(at: $0) }
    #expect(lasts == [true, true, false, false])
  }

  @Test func `takes any work once another has left`() {
    let stage = Stage(running: .background)
    let node = stage.inject(0, .background)
    #expect(stage.pool.takeNext(for: stage.worker) == nil)
    stage.pool.change { $0.blocked() }
    #expect(stage.pool.takeNext(for: stage.worker) == node)
  }

  /// A thread that was woken for lower work counts as a searcher until it has a CPU.
  @Test func `above the others has an idle worker although one searches`() {
    let isOver = Latch()
    let pool = Pool.occupied(by: .items, band: .utility, until: isOver)
    #expect(pool.makeSecondThread())
    #expect(eventually { pool.state.load(ordering: .relaxed).idle == 1 })
    pool.change { $0.searchBegan() }
    let (same, urgent) = (Latch(), Latch())
    pool.submit(band: .utility) { same.open() }
    #expect(pool.state.load(ordering: .relaxed).idle == 1, "the searcher takes it")
    pool.submit(band: .userInitiated) { urgent.open() }
    #expect(urgent.wait())
    pool.change { $0.searchEnded().0 }
    isOver.open()
    #expect(same.wait())
    #expect(pool.faultsAtRest() == [])
  }

  @Test(arguments: [true, false])
  func `steps back, whether it searches or not`(isSearching: Bool) {
    let isDone = onThreads(1) { _ in
      let stage = Stage(running: .background)
      let (pool, worker) = (stage.pool, stage.worker)
      if !isSearching { pool.stopSearching(worker) }
      #expect(pool.stepBack(worker, currentThread()))
      let rest = PoolState(rawValue: 2 << 48 | 1 << 32 | 1)
      #expect(pool.state.load(ordering: .relaxed) == rest)
      #expect(!worker.isSearching && pool.idleStack.workers.map(\.index) == [worker.index])
      pool.idleStack.removeAll()
    }
    #expect(isDone)
  }
}
