// One worker, one band that always has more work, and one band that waits.
// Shows contract row P7.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Work of a low band") struct StarvationTests {
  /// Work that submits itself again until it is stopped.
  private final class Chain: Sendable {
    private let isOver = Number()
    let length = Number()
    private let ended = Latch()

    func begin(_ kind: WorkKind, _ band: Band, in pool: Pool) {
      pool.submit(kind, band: band) { self.run(kind, band, in: pool) }
    }

    private func run(_ kind: WorkKind, _ band: Band, in pool: Pool) {
      length.add()
      if isOver.now > 0 { return ended.open() }
      begin(kind, band, in: pool)
    }

    func stop() -> Bool {
      isOver.add()
      return ended.wait()
    }
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `runs though a higher band never ends`(low: WorkKind, high: WorkKind) {
    let pool = Pool.own(width: 1, threads: 1)
    let chain = Chain()
    chain.begin(high, .userInteractive, in: pool)
    #expect(chain.length.waitFor(10))
    let ran = Latch(2)
    pool.submit(low, band: .background) { ran.open() }
    pool.submit(low, band: .utility) { ran.open() }
    #expect(ran.wait())
    #expect(chain.stop())
  }

  @Test(arguments: WorkKind.allCases, WorkKind.allCases)
  func `runs though a worker has put it into its local queue before a higher band came`(
    low: WorkKind, high: WorkKind
  ) {
    let pool = Pool.own(width: 1, threads: 1)
    let chain = Chain()
    let gate = Latch()
    let isFull = Latch()
    let ran = Counter()
    // The first item to run shows that the others moved to the worker's local queue with it.
    pool.submit(low, band: .background) {
      isFull.open()
      _ = gate.wait()
    }
    #expect(isFull.wait())
    for _ in 0..<5 {
      pool.submit(low, band: .background) {
        if ran.add() == 1 { chain.begin(high, .userInteractive, in: pool) }
      }
    }
    gate.open()
    #expect(
      ran.waitForValue(5), "\(ran.value) of 5 ran, beside \(chain.length.now) of the higher band")
    #expect(chain.stop())
  }

  @Test(arguments: WorkKind.allCases)
  func `that is gone gets no worker, however long a higher band runs`(kind: WorkKind) {
    let requests = Number()
    let spawn: Pool.Spawn = { _, _, _ in
      requests.add()
      return EAGAIN
    }
    let pool = Pool.own(width: 1, threads: 4, spawn: spawn, isWatched: false)
    let worker = pool.makeWorker()
    worker.status.store(.running, ordering: .relaxed)
    worker.thread = currentThread()
    worker.threadID.store(currentThread().pointee.tid, ordering: .relaxed)
    pool.state.store(PoolState(rawValue: 1 << 48 | 1), ordering: .relaxed)
    pool.enter(.default, worker)
    // A worker that takes the last node leaves the mark, and takes nodes of its own band from then
    // on.
    pool.markWaiting(InjectorKey(kind: kind, band: .utility))
    for _ in 0..<2 * Pool.starvedRounds {
      worker.picks.wrappingAdd(1, ordering: .relaxed)
      pool.monitor.look(at: pool, hasWork: true)
    }
    #expect(requests.now == 0)
    #expect(pool.injectorHints.load(ordering: .relaxed) == 0)
  }

  @Test func `of one kind runs though the other kind never ends`() {
    for kind in WorkKind.allCases {
      let pool = Pool.own(width: 1, threads: 1)
      let chain = Chain()
      chain.begin(kind, .default, in: pool)
      let ran = Latch()
      pool.submit(kind.other, band: .default) { ran.open() }
      #expect(ran.wait(), "\(kind.other)")
      #expect(chain.stop())
    }
  }
}

extension Number {
  /// Waits until the number is at least `value`.
  fileprivate func waitFor(_ value: Int) -> Bool { eventually { now >= value } }
}
