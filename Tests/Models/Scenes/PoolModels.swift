// Room: Models/Pools. The real pool: from submit() to a worker and back to rest.
// The first worker is made while the scene is set, so it stands before its first step when the others begin.

extension Catalogue {
  static var pools: [EngineModel] {
    [
      EngineModel("pool: a worker that goes idle misses no submission") { scene in
        let (pool, job) = (Pool.small(), Job())
        pool.makeIdleWorker()
        scene.thread("submitter") { pool.submit(job) }
        scene.finally {
          job.expectDone()
          pool.expectAtRest()
        }
      },
      EngineModel("pool: nor does one that has just worked", reach: .exhaustedStrong) { scene in
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
        "pool: two submit to one worker", reach: .bounded(preemptions: 2)
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
      EngineModel("pool: the hint of a source is set while work waits there") { scene in
        let (pool, ring) = (Pool.small(), OwnedRing())
        let jobs = [Job(), Job()]
        pool.publish(jobs[0])
        scene.thread("submitter") { pool.publish(jobs[1]) }
        scene.thread("taker") {
          for _ in 0..<2 {
            let node = pool.withInjector(.items) {
              $0.take(atMost: 1, ring: ring.ring, band: .default)
            }
            if node == nil { pool.unmarkIfEmpty(.items) }
          }
        }
        scene.finally {
          let isEmpty = pool.withInjector(.items) { $0.isEmpty }
          let hint = pool.sourcesWaiting.load(ordering: .relaxed)
          Checker.expect(isEmpty || hint & Source.items.bit != 0, "work waits where no hint is")
        }
      },
    ]
  }

  static var poolMutants: [Mutant] {
    let idle = "pool: a worker that goes idle misses no submission"
    let hint = "pool: the hint of a source is set while work waits there"
    return [
      Mutant(
        "a hint is not set again", in: "Pool.swift", at: "sourcesWaiting.bitwiseOr",
        after: "func unmarkIfEmpty", .skips, foundBy: hint),
      Mutant(
        "a hint is cleared in two steps", in: "Pool.swift", at: "sourcesWaiting.bitwiseAnd",
        .splits, foundBy: hint),
      Mutant(
        "a submitter sets no hint", in: "Pool.swift", at: "sourcesWaiting.bitwiseOr",
        after: "func markWaiting", .skips, foundBy: hint),
      Mutant(
        "a change of the counts falls in two", in: "Pool.swift",
        at: "let (won, now) = state.weakCompareExchange", .splits, foundBy: idle),
      Mutant(
        "a submitter reads an old state", in: "Pool+Park.swift",
        at: "let seen = state.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: idle, isWeak: true),
      Mutant(
        "a submission is not in the order of sleeps and wake-ups", in: "Injector.swift",
        at: "inbox.weakCompareExchange", .dropsSequential, foundBy: idle, isWeak: true),
      Mutant(
        "a worker's last look may see the past", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == 0", .dropsSequential, foundBy: idle,
        isWeak: true),
      Mutant(
        "a worker's last look sees nothing", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == 0", .returns(0), foundBy: idle),
      Mutant(
        "a submitter always sees a searcher", in: "Pool+Park.swift",
        at: "let seen = state.load(ordering: .sequentiallyConsistent)", .returns(1 << 16),
        foundBy: idle),
    ]
  }
}
