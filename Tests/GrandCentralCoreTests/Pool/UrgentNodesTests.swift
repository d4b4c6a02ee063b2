// Urgent nodes beside a worker that runs lower ones. No threads: each test plays the workers.
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("An urgent node") struct UrgentNodesTests {
  /// A pool of width 1, with a worker that runs in `band`, on the calling thread.
  private struct Stage {
    let pool = Pool.own(width: 1, threads: 2, spawn: { _, _, _ in EAGAIN }, isWatched: false)
    let worker: Worker

    init(in band: Band) {
      worker = pool.makeWorker()
      worker.status.store(.running, ordering: .relaxed)
      worker.thread = currentThread()
      pool.state.store(PoolState(rawValue: 1 << 48 | 1), ordering: .relaxed)
      pool.enter(band, worker)
    }

    /// Adds an idle worker.
    func addIdle() -> Worker {
      let idle = pool.makeWorker()
      idle.thread = worker.thread
      pool.state.store(PoolState(rawValue: 2 << 48 | 1 << 32 | 1), ordering: .relaxed)
      pool.idleLock.withLock {
        pool.idleStack.push(idle)
        idle.isOnIdleStack = true
      }
      Parker.prepare(currentThread())
      return idle
    }
  }

  /// Those in lower classes give their CPU to a thread that wakes up.
  @Test(arguments: [Band.background, .utility, .default, .userInitiated])
  func `from outside may be taken by the worker that ends its item first`(_ band: Band) {
    let stage = Stage(in: band)
    let idle = stage.addIdle()
    let block = NodeBlock(1)
    let node = block.nodes[0]
    let key = InjectorKey(kind: .items, band: .userInteractive)
    #expect(stage.pool.submitToIdle(node, key))
    #expect(Parker.isGranted(currentThread()))
    let state = stage.pool.state.load(ordering: .relaxed)
    #expect(state.idle == 0 && state.searching == 1)
    let isPublished = band >= .default
    #expect((idle.takeHanded()?.node == node) != isPublished)
    #expect((stage.pool.take(for: stage.worker) == node) == isPublished)
  }

  @Test func `is run with the settings that a thread has which runs on, beside others`() {
    let isDone = onThreads(1) { _ in
      let thread = currentThread()
      ThreadEffects.adopt(thread, isReplaceable: false)
      defer { ThreadEffects.leave(thread) }
      let stage = Stage(in: .default)
      let (pool, worker) = (stage.pool, stage.worker)
      let block = NodeBlock(1)
      /// Whether its settings may be raised later, at this pick, with so many workers active.
      func mayRiseLater(atPick pick: UInt32, active: UInt64) -> Bool {
        worker.picks.store(pick, ordering: .relaxed)
        pool.state.store(PoolState(rawValue: 1 << 48 | active), ordering: .relaxed)
        pool.enter(.userInteractive, worker)
        #expect(pool.prepare(for: block.nodes[0], worker, thread) == .run)
        return thread.shared.mayRiseLater
      }
      #expect(!mayRiseLater(atPick: 1, active: 1), "it was woken for the node")
      #expect(mayRiseLater(atPick: 2, active: 1))
      #expect(!mayRiseLater(atPick: 3, active: 0), "a CPU is free")
      worker.slept(nanoseconds: 1, until: 1)
      #expect(!mayRiseLater(atPick: 4, active: 1), "it was woken anew")
    }
    #expect(isDone)
  }
}
