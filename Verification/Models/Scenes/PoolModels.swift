// Room: Models/Pools. The real pool: from submit() to a worker and back to rest. The first worker
// is made while the scene is set, so it has taken no step when the others begin.

extension Catalogue {
  static var pools: [EngineModel] {
    [
      EngineModel("pool: a worker that becomes idle misses no submission") { scene in
        let (pool, job) = (Pool.small(), Job())
        pool.makeIdleWorker()
        scene.thread("submitter") { pool.submit(job) }
        scene.finally {
          job.expectDone()
          pool.expectAtRest()
        }
      },
      EngineModel(
        "pool: a worker that has just run an item misses no submission", reach: .exhaustedStrong
      ) { scene in
        let pool = Pool.small()
        let jobs = [Job(), Job()]
        pool.submit(jobs[0])
        scene.thread("submitter") { pool.submit(jobs[1]) }
        scene.finally {
          for job in jobs { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel("pool: an item's own submission runs", reach: .exhaustedStrong) { scene in
        let pool = Pool.small()
        let inner = Job()
        let outer = Job { pool.submit(inner) }
        let other = Job()
        pool.submit(outer)
        scene.thread("submitter") { pool.submit(other) }
        scene.finally {
          for job in [inner, outer, other] { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel(
        "pool: two threads submit to one worker", reach: .bounded(preemptions: 2)
      ) { scene in
        let pool = Pool.small()
        let jobs = [Job(), Job()]
        for (number, job) in jobs.enumerated() {
          scene.thread("submitter \(number)") { pool.submit(job) }
        }
        scene.finally {
          for job in jobs { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel("pool: two workers share the work", reach: .bounded(preemptions: 2)) { scene in
        let pool = Pool.small(width: 2, threads: 2)
        let jobs = [Job(), Job(), Job()]
        let first = Job { for job in jobs[0..<2] { pool.submit(job) } }
        pool.submit(first)
        scene.thread("submitter") { pool.submit(jobs[2]) }
        scene.finally {
          for job in jobs + [first] { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel(
        "pool: urgent work beside a lower item leaves no work behind",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let pool = Pool.small(threads: 2, injectors: [.items, .lowItems])
        let (urgent, other) = (Job(), Job())
        // A second worker is admitted for the urgent job, which the first one may take meanwhile.
        let low = Job { pool.submit(urgent) }
        pool.submit(low, band: .background)
        scene.thread("submitter") { pool.submit(other, band: .background) }
        scene.finally {
          for job in [low, urgent, other] { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel("pool: a submission and a searcher that steps back see each other") { scene in
        let (pool, job) = (Pool.small(threads: 2), Job())
        // The other one uses up the width.
        let worker = pool.makeWorkers(2, searching: 1)[0]
        scene.thread("submitter") { pool.submit(job) }
        scene.thread("worker") {
          let isBack = pool.stepBack(worker, pool.begin(worker))
          Checker.expect(isBack, "the worker did not step back")
        }
        scene.finally {
          let isAwake = pool.monitor.mode.load(ordering: .relaxed) != .asleep
          Checker.expect(isAwake, "work waits, and the monitor sleeps")
          for number in 0..<ModelThreads.count {
            ModelThreads.context(number).pointee.worker = nil
          }
        }
      },
      EngineModel("pool: a submission and a last check see each other") { scene in
        let (pool, job) = (Pool.small(), Job())
        let worker = pool.makeWorkers(1, searching: 1)[0]
        scene.thread("submitter") { pool.submit(job) }
        scene.thread("worker") { _ = pool.park(worker, pool.begin(worker)) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a worker whose thread ends inside an item leaves no work") { scene in
        let (pool, job) = (Pool.small(), Job())
        let worker = pool.makeWorkers(1, searching: 0)[0]
        scene.thread("submitter") { pool.submit(job) }
        scene.thread("worker") {
          let thread = pool.begin(worker)
          let outer = thread.enterFrame(of: nil)
          Checker.expect(Pool.threadEnds(thread) === worker, "the worker was not counted out")
          thread.leaveFrame(to: outer)
        }
        scene.finally {
          job.expectDone()
          pool.expectAtRest()
        }
      },
      EngineModel("pool: a submission whose bit is set and a last check see each other") { scene in
        let (pool, job) = (Pool.small(), Job())
        let worker = pool.makeWorkers(1, searching: 1)[0]
        pool.markWaiting(.items)
        scene.thread("submitter") { pool.submit(job) }
        scene.thread("worker") { _ = pool.park(worker, pool.begin(worker)) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a bit that is set again and a last check see each other") { scene in
        let (pool, job) = (Pool.small(width: 2, threads: 2), Job())
        let workers = pool.makeWorkers(2, searching: 1)
        // The submitter has seen the searcher.
        pool.publish(job)
        scene.thread("taker") {
          _ = pool.begin(workers[1])
          pool.unmarkIfEmpty(.items)
        }
        scene.thread("worker") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel(
        "pool: a submission, a bit that is set again and a last check see each other",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let (pool, job) = (Pool.small(width: 2, threads: 2), Job())
        let workers = pool.makeWorkers(2, searching: 1)
        pool.markWaiting(.items)
        scene.thread("submitter") { pool.submit(job) }
        scene.thread("taker") {
          _ = pool.begin(workers[1])
          pool.unmarkIfEmpty(.items)
        }
        scene.thread("worker") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a worker's submission and another worker's last check see each other") {
        scene in
        let (pool, job) = (Pool.small(width: 2, threads: 2), Job())
        let workers = pool.makeWorkers(2, searching: 1)
        scene.thread("submitter") {
          _ = pool.begin(workers[1])
          pool.enter(.default, workers[1])
          pool.submit(job)
        }
        scene.thread("worker") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a worker's submission of a list and a last check see each other") {
        scene in
        let (pool, jobs) = (Pool.small(width: 2, threads: 2), [Job(), Job()])
        let workers = pool.makeWorkers(2, searching: 1)
        scene.thread("submitter") {
          _ = pool.begin(workers[1])
          pool.enter(.default, workers[1])
          pool.submit(list: jobs)
        }
        scene.thread("worker") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: moved work and a last check see each other") { scene in
        let pool = Pool.small(width: 3, threads: 3)
        let jobs = [Job(), Job(), Job()]
        let workers = pool.makeWorkers(3, searching: 2)
        for job in jobs { workers[2].localQueue(.items).put(job.node(), band: .default) }
        scene.thread("thief") {
          _ = pool.begin(workers[0])
          if pool.take(for: workers[0]) != nil { pool.stopSearching(workers[0]) }
        }
        scene.thread("worker") { _ = pool.park(workers[1], pool.begin(workers[1])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: an emptied injector and a last check see each other") { scene in
        let pool = Pool.small(width: 2, threads: 2)
        let jobs = [Job(), Job()]
        let workers = pool.makeWorkers(2, searching: 2)
        for job in jobs { pool.publish(job) }
        scene.thread("taker") {
          _ = pool.begin(workers[0])
          if pool.take(for: workers[0]) != nil { pool.stopSearching(workers[0]) }
        }
        scene.thread("worker") { _ = pool.park(workers[1], pool.begin(workers[1])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a worker that takes overdue work and a last check see each other") {
        scene in
        let pool = Pool.small(width: 2, threads: 2)
        let jobs = [Job(), Job(), Job()]
        let workers = pool.makeWorkers(2, searching: 1)
        workers[1].localQueue(.items).put(jobs[0].node(), band: .default)
        for job in jobs[1...] { pool.publish(job) }
        pool.setOverdue(InjectorSet(InjectorKey.items))
        scene.thread("taker") {
          _ = pool.begin(workers[1])
          let node = pool.take(for: workers[1])
          Checker.expect(
            workers[1].items.count == 2 && node != nil, "the worker did not take what is overdue")
          pool.stopSearching(workers[1])
        }
        scene.thread("worker") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a worker whose turn it is and a last check see each other") { scene in
        let pool = Pool.small(width: 2, threads: 2)
        let jobs = [Job(), Job(), Job()]
        let workers = pool.makeWorkers(2, searching: 1)
        workers[1].localQueue(.items).put(jobs[0].node(), band: .default)
        for job in jobs[1...] { pool.publish(job) }
        // Its pass is over: the next pick looks at the injectors before the worker's own queue.
        pool.beginPass(of: workers[1])
        workers[1].picks.store(121, ordering: .relaxed)
        scene.thread("taker") {
          _ = pool.begin(workers[1])
          let node = pool.take(for: workers[1])
          Checker.expect(
            workers[1].items.count == 2 && node != nil, "the worker did not take its share")
          pool.stopSearching(workers[1])
        }
        scene.thread("worker") { _ = pool.park(workers[0], pool.begin(workers[0])) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: the monitor's wait clock and a last check see each other") {
        scene in
        let (pool, job) = (Pool.small(), Job())
        let worker = pool.makeWorkers(1, searching: 1)[0]
        pool.publish(job)
        scene.thread("monitor") { _ = pool.counts(of: .items) }
        scene.thread("worker") { _ = pool.park(worker, pool.begin(worker)) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel("pool: a hint belongs to its injector") { scene in
        let (pool, localQueue) = (Pool.small(injectors: [.items, .lanes]), OwnedLocalQueue())
        let job = Job()
        pool.markWaiting(.items)
        scene.thread("submitter") {
          pool.withInjector(.lanes) { $0.push(job.node()) }
          pool.markWaiting(.lanes)
        }
        scene.thread("taker") {
          _ = pool.withInjector(.items) {
            $0.take(atMost: 1, localQueue: localQueue.localQueue, band: .default)
          }
          pool.unmarkIfEmpty(.items)
        }
        scene.finally {
          let hint = pool.injectorHints.load(ordering: .relaxed)
          Checker.expect(hint == InjectorSet(InjectorKey.lanes).rawValue, "the hints are \(hint)")
        }
      },
      EngineModel("pool: the hint of an injector is set while work waits there") { scene in
        let (pool, localQueue) = (Pool.small(), OwnedLocalQueue())
        let jobs = [Job(), Job()]
        pool.publish(jobs[0])
        scene.thread("submitter") { pool.publish(jobs[1]) }
        scene.thread("taker") {
          for _ in 0..<2 {
            let node = pool.withInjector(.items) {
              $0.take(atMost: 1, localQueue: localQueue.localQueue, band: .default)
            }
            if node == nil { pool.unmarkIfEmpty(.items) }
          }
        }
        scene.finally {
          let isEmpty = pool.withInjector(.items) { $0.isEmpty }
          let hint = pool.injectorHints.load(ordering: .relaxed)
          Checker.expect(
            isEmpty || hint & InjectorSet(InjectorKey.items).rawValue != 0,
            "work waits where no hint is")
        }
      },
    ]
  }

  static var poolMutants: [Mutant] {
    let idle = "pool: a worker that becomes idle misses no submission"
    let look = "pool: a submission and a last check see each other"
    let marked = "pool: a submission whose bit is set and a last check see each other"
    let again = "pool: a bit that is set again and a last check see each other"
    let own = "pool: a worker's submission and another worker's last check see each other"
    let hint = "pool: the hint of an injector is set while work waits there"
    return [
      Mutant(
        "a hint is not set again", in: "Pool+Submit.swift", at: "injectorHints.bitwiseOr",
        after: "func unmarkIfEmpty", .skips, foundBy: hint),
      Mutant(
        "a hint is cleared with a load and a store", in: "Pool+Submit.swift",
        at: "injectorHints.bitwiseAnd",
        .splits, foundBy: "pool: a hint belongs to its injector"),
      Mutant(
        "a submitter sets no hint", in: "Pool+Submit.swift",
        at: "injectorHints.bitwiseOr", after: "func markWaiting", .skips, foundBy: hint),
      Mutant(
        "a change of the counts is a load and a store", in: "Pool.swift",
        at: "state.change(.sequentiallyConsistent", .splits,
        foundBy: "workers: a sleep is counted once, by its announcement or the monitor"),
      Mutant(
        "a submitter reads a stale state", in: "Pool+Submit.swift",
        at: "wakeIfNeeded(seeing: state.load(", after: "func wakeIfNeeded()", .dropsSequential,
        foundBy: look, isWeak: true),
      Mutant(
        "a bit is set again and no worker is woken", in: "Pool+Submit.swift",
        at: "wakeIfNeeded(seeing: state.load(", after: "func unmarkIfEmpty", .returns(1 << 16),
        foundBy: again),
      Mutant(
        "a thread that sets a bit again reads a stale state", in: "Pool+Submit.swift",
        at: "wakeIfNeeded(seeing: state.load(", after: "func unmarkIfEmpty", .dropsSequential,
        foundBy: again, isWeak: true),
      Mutant(
        "a submission is not sequentially consistent", in: "Injector.swift",
        at: "inbox.change(", .dropsSequential, foundBy: marked, isWeak: true),
      Mutant(
        "the bit of a submission is not sequentially consistent", in: "Pool+Submit.swift",
        at: "injectorHints.bitwiseOr", after: "func markWaiting", .dropsSequential,
        foundBy: look, isWeak: true),
      Mutant(
        "the last check of a thread that ends inside an item sees nothing", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == .empty", .returns(0),
        foundBy: "pool: a worker whose thread ends inside an item leaves no work"),
      Mutant(
        "a worker's last check may read stale bits", in: "Pool+Park.swift",
        at: "injectorHints.load(ordering: .sequentiallyConsistent)",
        .dropsSequential, foundBy: look, isWeak: true),
      Mutant(
        "a worker's last check may read stale values", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == .empty", .dropsSequential,
        foundBy: marked, isWeak: true),
      Mutant(
        "a worker's own submission is not sequentially consistent", in: "LocalQueue.swift",
        at: "tail.store(last &+ 1",
        .dropsSequential, foundBy: own, isWeak: true),
      Mutant(
        "a worker's list is not submitted sequentially consistent", in: "LocalQueue.swift",
        at: "tail.store(last &+ UInt32(count), ", .dropsSequential,
        foundBy: "pool: a worker's submission of a list and a last check see each other",
        isWeak: true),
      Mutant(
        "a last check of a local queue may read stale values", in: "LocalQueue.swift",
        at: "== tail.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: own, isWeak: true),
      Mutant(
        "a worker parks without sequential consistency", in: "Pool+Park.swift",
        at: "state.transition(.sequentiallyConsistent, to: transition",
        after: "func changeIfApplicable", .dropsSequential, foundBy: look,
        isWeak: true),
      Mutant(
        "a searcher steps back without sequential consistency", in: "Pool+Park.swift",
        at: "state.transition(.sequentiallyConsistent, to: transition",
        after: "func changeIfApplicable", .dropsSequential,
        foundBy: "pool: a submission and a searcher that steps back see each other",
        isWeak: true),
      Mutant(
        "a searcher that steps back sees nothing", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == .empty", .returns(0),
        foundBy: "pool: a submission and a searcher that steps back see each other"),
      Mutant(
        "a last check skips the local queues", in: "Pool+Park.swift",
        at: "workerCount.load(ordering: .sequentiallyConsistent)", .returns(0), foundBy: own),
      Mutant(
        "a worker's last check sees nothing", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == .empty", .returns(0), foundBy: idle),
      Mutant(
        "a submitter always sees a searcher", in: "Pool+Submit.swift",
        at: "wakeIfNeeded(seeing: state.load(", after: "func wakeIfNeeded()", .returns(1 << 16),
        foundBy: idle),
    ]
  }
}
