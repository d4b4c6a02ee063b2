// Room: Models/LaneReserve. The threads that take lanes alone. In each scene an item holds the only
// thread that the pool may have, so a lane needs a thread of the reserve.

extension Catalogue {
  static var laneReserves: [EngineModel] {
    [
      EngineModel(
        "lane reserve: a lane runs while all threads wait for it", reach: .bounded(preemptions: 2)
      ) { scene in
        let (pool, word) = (LaneReserves.pool(), Atomic32())
        let lane = Job {
          word.word.store(1, ordering: .releasing)
          futexWake(word.word, count: .max)
        }
        let item = Job {
          pool.submit(lane: lane)
          Blocking.announced(currentThread()) {
            while word.word.load(ordering: .acquiring) == 0 { _ = futexWait(word.word, while: 0) }
          }
        }
        scene.thread("submitter") { pool.submit(item) }
        scene.finally {
          for job in [item, lane] { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel(
        "lane reserve: a lane that comes while it leaves runs", reach: .bounded(preemptions: 3)
      ) { scene in
        let (pool, lanes) = (LaneReserves.pool(), [Job(), Job()])
        pool.holdItsThread()
        for lane in lanes { scene.thread("submitter") { pool.submit(lane: lane) } }
        scene.finally { LaneReserves.expectDone(lanes, pool) }
      },
      EngineModel("lane reserve: a submission and its last check see each other") { scene in
        let (pool, lane) = (LaneReserves.pool(), Job())
        let worker = LaneReserves.searcher(of: pool)
        scene.thread("worker") { _ = pool.restInReserve(worker, pool.begin(worker)) }
        scene.thread("submitter") { pool.submit(lane: lane) }
        scene.finally {
          let seen = pool.state.load(ordering: .relaxed)
          Checker.expect(
            seen.searching > 0 || pool.withInjector(.lanes) { $0.isEmpty },
            "a lane waits, and no thread of the reserve comes")
          LaneReserves.end()
        }
      },
      EngineModel(
        "lane reserve: an item never takes its thread", reach: .bounded(preemptions: 2)
      ) { scene in
        let (pool, lane, item) = (LaneReserves.pool(), Job(), Job())
        pool.holdItsThread()
        scene.thread("submitter of an item") { pool.submit(item) }
        scene.thread("submitter of a lane") { pool.submit(lane: lane) }
        scene.finally {
          Checker.expect(!item.isDone, "an item ran in the reserve")
          LaneReserves.expectDone([lane], pool)
        }
      },
      EngineModel(
        "lane reserve: one that was idle for long ends, or takes a lane",
        reach: .bounded(preemptions: 2), adjust: Allow.timeOuts(1)
      ) { scene in
        let (pool, lanes) = (LaneReserves.pool(), [Job(), Job()])
        pool.holdItsThread()
        pool.submit(lane: lanes[0])
        scene.thread("submitter") { pool.submit(lane: lanes[1]) }
        scene.finally { LaneReserves.expectDone(lanes, pool) }
      },
      EngineModel(
        "lane reserve: a lane that is held there leaves their thread to items",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let (pool, items) = (LaneReserves.pool(), [Job(), Job()])
        _ = LaneReserves.searcher(of: pool, threads: 1)
        pool.state.store(PoolState(rawValue: PoolState.oneThread), ordering: .relaxed)
        for item in items { scene.thread("submitter") { pool.submit(item) } }
        scene.finally {
          for item in items { item.expectDone("an item") }
          LaneReserves.end()
        }
      },
      EngineModel("lane reserve: a worker that leaves it takes the item that comes") { scene in
        let (pool, item) = (LaneReserves.pool(), Job())
        let worker = LaneReserves.searcher(of: pool, threads: 2)
        pool.state.store(
          PoolState(
            rawValue: PoolState.oneActive + PoolState.oneSearching + PoolState.oneThread),
          ordering: .relaxed)
        scene.thread("worker") { _ = pool.serveLanes(worker, pool.begin(worker)) }
        scene.thread("submitter") { pool.submit(item) }
        scene.finally {
          let seen = pool.state.load(ordering: .relaxed)
          Checker.expect(
            item.isDone || worker.handed != nil || seen.searching > 0,
            "an item waits, and no worker comes")
          Checker.expect(seen.threads == 1, "\(seen.threads) threads are counted")
          Checker.expect(pool.laneReserve.threads == 1, "the worker is still in the reserve")
          LaneReserves.end()
        }
      },
    ]
  }

  static var laneReserveMutants: [Mutant] {
    let check = "lane reserve: a submission and its last check see each other"
    return [
      Mutant(
        "a reserve's leave is not sequentially consistent", in: "Pool.swift",
        at: "state.change(.sequentiallyConsistent)", .dropsSequential, foundBy: check,
        isWeak: true),
      Mutant(
        "a reserve's last check may read stale bits", in: "Pool+Park.swift",
        at: "injectorHints.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: check, isWeak: true),
      Mutant(
        "a reserve's last check sees nothing", in: "Pool+Park.swift",
        at: "injectorHints.load(ordering: .sequentiallyConsistent)", .returns(0), foundBy: check),
    ]
  }
}

private enum LaneReserves {
  static func pool() -> Pool { Pool.small(width: 1, threads: 1, injectors: [.items, .lanes]) }

  /// Makes a worker of the reserve that searches, without a thread.
  static func searcher(of pool: Pool, threads: Int = 1) -> Worker {
    let worker = pool.makeWorkers(1, searching: 1)[0]
    pool.idleLock.withLock {
      worker.isInReserve = true
      pool.laneReserve.threads = threads
    }
    pool.holdItsThread(besides: PoolState.oneActive + PoolState.oneSearching + PoolState.oneThread)
    return worker
  }

  /// Fails unless the lanes have run, and no thread is counted but the one that an item holds.
  static func expectDone(_ lanes: [Job], _ pool: Pool) {
    for lane in lanes { lane.expectDone("a lane") }
    let seen = pool.state.load(ordering: .relaxed)
    Checker.expect(
      seen.rawValue == PoolState.oneThread, "the counts are not those of one held thread")
    let (idle, threads) = (pool.laneReserve.idle.count, pool.laneReserve.threads)
    Checker.expect(idle == threads, "\(idle) of \(threads) threads of the reserve are idle")
    end()
  }

  static func end() {
    for number in 0..<ModelThreads.count { ModelThreads.context(number).pointee.worker = nil }
  }
}

extension Pool {
  /// Counts a thread that waits in an item, besides the workers of `others`.
  fileprivate func holdItsThread(besides others: UInt64 = 0) {
    state.store(PoolState(rawValue: others + PoolState.oneThread), ordering: .relaxed)
  }

  fileprivate func submit(lane: Job) {
    let node = lane.node()
    node.traits = .overcommit
    submit(node, .lanes, band: .default, from: currentThread())
  }
}
