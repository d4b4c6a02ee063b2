// Room: Models/Sleepers. Workers that sleep in an item, workers that sleep without work until they
// leave, and threads that the system refuses.

extension Catalogue {
  static var sleepers: [EngineModel] {
    [
      EngineModel(
        "workers: a retiring worker misses no submission", reach: .exhaustedStrong,
        adjust: Allow.timeOuts(1)
      ) { scene in
        let (pool, job) = (Pool.small(), Job())
        pool.makeIdleWorker()
        scene.thread("submitter") { pool.submit(job) }
        scene.finally {
          job.expectDone()
          pool.expectAtRest()
        }
      },
      EngineModel(
        "workers: a worker that sleeps in an item is replaced, and one retires",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let pool = Pool.small(threads: 2)
        let number = Atomic32()
        let first = Job {
          Blocking.announced(currentThread()) {
            while number.word.load(ordering: .acquiring) == 0 {
              _ = futexWait(number.word, while: 0)
            }
          }
        }
        let second = Job {
          number.word.store(1, ordering: .releasing)
          futexWake(number.word)
        }
        pool.submit(first)
        pool.submit(second)
        scene.finally {
          first.expectDone("the sleeper")
          second.expectDone("what it waits for")
          pool.expectAtRest()
        }
      },
      EngineModel("workers: a sleep is counted once, by its announcement or the monitor") { scene in
        let pool = Pool.small()
        let worker = pool.makeWorker()
        pool.change { $0.woken(allowance: 1, maxThreads: 1).0 }
        pool.change { $0.searchEnded().0 }
        worker.status.store(.running, ordering: .relaxed)
        scene.thread("worker") {
          currentThread().pointee.worker = Unmanaged.passUnretained(worker).toOpaque()
          Blocking.announced(currentThread()) {}
          // A worker does this at the end of each item.
          if worker.status.load(ordering: .relaxed) != .running { pool.comeBack(worker) }
        }
        scene.thread("monitor") {
          if pool.monitor.mark(worker, in: pool) { pool.monitor.unmark(worker, in: pool) }
        }
        scene.finally {
          Checker.expect(worker.status.load(ordering: .relaxed) == .running, "it still sleeps")
          let active = pool.state.load(ordering: .relaxed).active
          Checker.expect(active == 1, "one worker is at work, and \(active) are counted")
        }
      },
      EngineModel("workers: a worker that comes back is counted before it is marked") { scene in
        let pool = Pool.small()
        let worker = pool.makeWorkers(1, searching: 0)[0]
        worker.status.store(.announced, ordering: .relaxed)
        pool.change { $0.blocked() }
        scene.thread("worker") { pool.comeBack(worker) }
        scene.thread("monitor") {
          // `active` must not go below 0: each change of the counts checks that.
          if pool.monitor.mark(worker, in: pool) { pool.monitor.unmark(worker, in: pool) }
        }
        scene.finally {
          let active = pool.state.load(ordering: .relaxed).active
          Checker.expect(active == 1, "one worker is at work, and \(active) are counted")
        }
      },
      EngineModel("workers: a worker that the monitor counted as asleep becomes idle") { scene in
        let pool = Pool.small()
        pool.makeIdleWorker()
        scene.thread("monitor") {
          guard let worker = pool.worker(at: 0) else { return }
          if pool.monitor.mark(worker, in: pool) { pool.monitor.unmark(worker, in: pool) }
        }
        scene.finally { pool.expectAtRest() }
      },
      EngineModel(
        "workers: work submitted while threads are refused is retried",
        reach: .exhaustedStrong, adjust: Allow.refusals(2)
      ) { scene in
        let pool = Pool.small(monitorMode: .absent)
        let jobs = [Job(), Job()]
        scene.thread("submitter") { for job in jobs { pool.submit(job) } }
        scene.finally { pool.expectLookedAfter(jobs) }
      },
      EngineModel(
        "workers: work of two threads submitted while threads are refused is retried",
        reach: .bounded(preemptions: 2),
        adjust: Allow.refusals(2)
      ) { scene in
        let pool = Pool.small(monitorMode: .absent)
        let jobs = [Job(), Job()]
        scene.thread("first") { pool.submit(jobs[0]) }
        scene.thread("second") { pool.submit(jobs[1]) }
        scene.finally { pool.expectLookedAfter(jobs) }
      },
      EngineModel("workers: a retry does not end while work waits") { scene in
        let (pool, job) = (Pool.small(monitorMode: .absent, refusesAll: true), Job())
        ThreadlessRetry.begin(pool)
        scene.thread("submitter") {
          pool.publish(job)
          pool.retryWithoutThread()
        }
        scene.thread("sleeper") { pool.retry() }
        scene.finally {
          Checker.expect(pool.endRetries(), "work waits, and the retry has ended")
        }
      },
    ]
  }

  static var sleeperMutants: [Mutant] {
    let counts = "workers: a sleep is counted once, by its announcement or the monitor"
    let parks = "workers: a worker that the monitor counted as asleep becomes idle"
    let idle = "pool: a worker that becomes idle misses no submission"
    let retry = "workers: a retry does not end while work waits"
    return [
      Mutant(
        "an announcement is a load and a store", in: "Pool+Blocked.swift",
        at: "worker.status.exchange(.announced", .splits, foundBy: counts),
      Mutant(
        "a returning worker does not check its status", in: "Pool+Blocked.swift",
        at: "worker.status.exchange(.running", .splits, foundBy: counts),
      Mutant(
        "the monitor marks a worker that announced itself", in: "Monitor.swift",
        at: "let (done, _) = worker.status.compareExchange(", after: "func mark", .isBlind,
        foundBy: counts),
      Mutant(
        "the monitor reverts a mark that is gone", in: "Monitor.swift",
        at: "let (done, _) = worker.status.compareExchange(", after: "func unmark", .isBlind,
        foundBy: counts),
      Mutant(
        "a worker becomes idle without checking its mark", in: "Pool+Park.swift",
        at: "worker.status.exchange(.away", .splits, foundBy: parks),
      Mutant(
        "a grant wakes no thread", in: "Parker.swift", at: "{ futexWake(shared.parker) }", .skips,
        foundBy: idle),
      Mutant(
        "a grant does not release", in: "Parker.swift", at: "shared.parker.exchange(1",
        .dropsRelease, foundBy: idle),
      Mutant(
        "a grant finds no sleeping thread", in: "Parker.swift",
        at: "let (first, seen) = shared.parker.compareExchange(", .isBlind, foundBy: idle),
      Mutant(
        "a worker forgets its last grant", in: "Parker.swift", at: "$0.parker.store(0", .skips,
        foundBy: "pool: a worker that has just run an item misses no submission"),
      Mutant(
        "sleeping threads are not notified of a retry", in: "ThreadlessRetry.swift",
        at: "count.store(list.count", .skips,
        foundBy: retry),
      Mutant(
        "a retry ends without a second check", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == .empty", .returns(0), foundBy: retry),
    ]
  }
}

/// A word for a futex sleep.
final class Atomic32 {
  let word = Atomic<UInt32>(0)
}
