// One worker, one band that always has more work, and one band that waits; and when that has turns.
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
    for _ in 0..<2 * Starvation.rounds {
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

@Suite("The turns of a class that starves") struct StarvationTurnTests {
  private enum Look { case starved, charged, nothing }

  /// The numbers of the looks, from 1, at which a turn and an early turn are due; each is taken.
  private func turns(of band: Band, _ looks: [Look]) -> (turns: [Int], early: [Int]) {
    var starvation = Starvation()
    var due = (turns: [Int](), early: [Int]())
    for (index, look) in looks.enumerated() {
      starvation.used = look == .charged ? 1_000_000 : 0
      switch starvation.look(
        at: band, isStarved: look == .starved, isCharged: look == .charged, elapsed: 1_000_000)
      {
      case .none: break
      case .turn: due.turns.append(index + 1)
      case .earlyTurn:
        due.early.append(index + 1)
        starvation.hadEarlyTurn(of: band)
      }
    }
    return due
  }

  @Test func `come after a hundred looks, for each class`() {
    for band in Band.allCases where band != .unspecified {
      let due = turns(of: band, Array(repeating: .starved, count: 201))
      #expect(due.turns == [100, 200])
    }
  }

  @Test func `come early from utility up`() {
    for band in [Band.default, .userInitiated, .userInteractive] {
      #expect(turns(of: band, Array(repeating: .starved, count: 6)).early == [2, 4, 6])
    }
    #expect(turns(of: .utility, Array(repeating: .starved, count: 10)).early == [2, 6, 10])
    #expect(turns(of: .background, Array(repeating: .starved, count: 99)).early == [])
    #expect(turns(of: .utility, [.starved, .nothing, .starved]).early == [])
  }

  @Test func `stay due until a worker is sent`() {
    var starvation = Starvation()
    func look() -> Starvation.Verdict {
      starvation.look(at: .utility, isStarved: true, isCharged: false, elapsed: 1_000_000)
    }
    #expect(look() == .none)
    for _ in 0..<3 { #expect(look() == .earlyTurn) }
    starvation.hadEarlyTurn(of: .utility)
    #expect(look() == .none)
  }

  /// Long work of utility gets about a tenth of a CPU so.
  @Test func `are paid for by utility only`() {
    let looks = [Look.charged, .charged] + Array(repeating: .starved, count: 20)
    #expect(turns(of: .utility, looks).early == [21])
    #expect(turns(of: .default, looks).early.first == 4)
  }

  /// Work on CPUs that nothing else needs costs nothing.
  @Test func `are not paid for while CPUs are free`() {
    var starvation = Starvation()
    starvation.used = 50_000_000
    _ = starvation.look(at: .utility, isStarved: false, isCharged: false, elapsed: 1_000_000)
    for verdict in [Starvation.Verdict.none, .earlyTurn] {
      let next = starvation.look(
        at: .utility, isStarved: true, isCharged: true, elapsed: 1_000_000)
      #expect(next == verdict)
    }
  }

  /// An item of a second delays the class by no more than its turn does.
  @Test func `are never further away than a turn`() {
    let looks =
      Array(repeating: Look.charged, count: 1_000) + Array(repeating: .starved, count: 100)
    #expect(turns(of: .utility, looks).turns == [1_100])
  }
}
