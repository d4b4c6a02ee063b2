// Room: Models/ExternalWorkers. Threads of the poller that work in the pool for a while, and the
// two threads of the poller.

extension Catalogue {
  static var externalWorkers: [EngineModel] {
    [
      EngineModel(
        "external worker: its events run, also those that arrive while it leaves",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let (pool, brought, other) = (Pool.small(), Job(), Job())
        let externalWorker = pool.makeExternalWorker(named: "")
        scene.thread("external worker") { ExternalWorkers.run(pool, externalWorker, [brought]) }
        scene.thread("submitter") { pool.submit(other) }
        scene.finally {
          for job in [brought, other] { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel(
        "external worker: a worker takes what it leaves behind", reach: .bounded(preemptions: 2)
      ) { scene in
        let pool = Pool.small(width: 2, threads: 2)
        let jobs = [Job(), Job(), Job()]
        let externalWorker = pool.makeExternalWorker(named: "")
        pool.makeIdleWorker()
        scene.thread("external worker") {
          ExternalWorkers.run(pool, externalWorker, Array(jobs[0..<2]))
        }
        scene.thread("submitter") { pool.submit(jobs[2]) }
        scene.finally {
          for job in jobs { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel(
        "external worker: it gets a permit or runs nothing inline", reach: .bounded(preemptions: 3)
      ) {
        scene in
        let (pool, brought, other) = (Pool.small(), Job(), Job())
        let externalWorker = pool.makeExternalWorker(named: "")
        pool.submit(other)
        scene.thread("external worker") { ExternalWorkers.run(pool, externalWorker, [brought]) }
        scene.finally {
          for job in [brought, other] { job.expectDone() }
          pool.expectAtRest()
        }
      },
      EngineModel("external worker: a submission and its last check see each other") { scene in
        let (pool, job) = (Pool.small(), Job())
        let externalWorker = pool.makeExternalWorker(named: "")
        // It submits nothing, so it leaves at once.
        scene.thread("external worker") {
          _ = pool.runInline(as: externalWorker, on: ExternalWorkers.begin(externalWorker)) {}
        }
        scene.thread("submitter") {
          pool.publish(job)
          pool.wakeIfNeeded()
        }
        scene.finally {
          job.expectDone()
          pool.expectAtRest()
        }
      },
      EngineModel("external worker: one over the width leaves its work to others") { scene in
        let pool = Pool.small(width: 2, threads: 2)
        let jobs = [Job(), Job()]
        let externalWorker = pool.makeExternalWorker(named: "")
        let worker = pool.makeWorkers(1, searching: 1)[0]
        // The first item sets the width to one, and the other worker uses that up.
        let first = Job { pool.width.store(1, ordering: .relaxed) }
        scene.thread("external worker") {
          ExternalWorkers.run(pool, externalWorker, [first] + jobs)
        }
        scene.thread("worker") { _ = pool.park(worker, pool.begin(worker)) }
        scene.finally { pool.expectSearcher() }
      },
      EngineModel(
        "poller: a long handler does not delay other events",
        reach: .bounded(preemptions: 1), adjust: Allow.time
      ) { scene in
        let pool = Pool.small(width: 3, threads: 2)
        let stage = EventScene(scene, pollers: 2, pool: pool)
        let number = Atomic32()
        let long = (0..<2).map { _ in
          Job {
            while number.word.load(ordering: .acquiring) == 0 {
              _ = futexWait(number.word, while: 0)
            }
          }
        }
        let last = Receiver {
          number.word.store(1, ordering: .releasing)
          futexWake(number.word, count: .max)
        }
        let receivers = long.map { job in Receiver { pool.submit(job) } } + [last]
        ExternalWorkers.listen(receivers, stage)
        stage.addClock(scene)
        scene.thread("writer") { ExternalWorkers.write(to: receivers) }
        scene.finally {
          for job in long { job.expectDone("a long handler") }
          ExternalWorkers.expectNotifiedOnce(receivers)
          stage.end()
        }
      },
      EngineModel(
        "poller: each event is delivered once, by either thread", reach: .bounded(preemptions: 2),
        adjust: Allow.time
      ) { scene in
        let stage = EventScene(scene, pollers: 2)
        let receivers = [Receiver {}, Receiver {}]
        ExternalWorkers.listen(receivers, stage)
        scene.thread("writer") { ExternalWorkers.write(to: receivers) }
        stage.addClock(scene)
        scene.finally {
          ExternalWorkers.expectNotifiedOnce(receivers)
          stage.end()
        }
      },
      EngineModel(
        "poller: its retry does not end while threads are refused",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let poller = Poller(pool: Pool.small(refusesAll: true))
        // Each needs a thread, and one of them asks for the second one.
        for _ in 0..<2 { scene.thread("needs a thread") { poller.startThread() } }
        scene.thread("sleeper") { poller.retry() }
        scene.finally {
          Checker.expect(ThreadlessRetry.hasRetriers, "there is no thread, and no retry")
          ThreadlessRetry.end(poller)
        }
      },
      EngineModel("poller: an ended registration receives no event") { scene in
        let stage = EventScene(scene)
        let receivers = [Receiver {}, Receiver {}]
        ModelKernel.open(ModelKernel.first, .readable)
        let old = stage.poller.register(receivers[0]).registration
        _ = ReadinessSet.add(
          ModelKernel.set, ModelKernel.first, .readable, .once, key: old.key)
        scene.thread("changes") {
          _ = ReadinessSet.remove(ModelKernel.set, ModelKernel.first)
          stage.poller.unregister(old)
          _ = stage.poller.register(receivers[1])
        }
        scene.finally {
          Checker.expect(receivers[1].notified.count == 0, "an event reached its successor")
          stage.end()
        }
      },
    ]
  }

  static var externalWorkerMutants: [Mutant] {
    let brings = "external worker: its events run, also those that arrive while it leaves"
    let look = "external worker: a submission and its last check see each other"
    let long = "poller: a long handler does not delay other events"
    return [
      Mutant(
        "an external worker's leave is not sequentially consistent", in: "Pool+Park.swift",
        at: "state.transition(.sequentiallyConsistent, to: transition",
        after: "func changeIfApplicable",
        .dropsSequential, foundBy: look, isWeak: true),
      Mutant(
        "an external worker's last check may read stale bits", in: "Pool+Park.swift",
        at: "injectorHints.load(ordering: .sequentiallyConsistent)",
        .dropsSequential, foundBy: look, isWeak: true),
      Mutant(
        "an external worker's last check sees nothing", in: "Injector.swift",
        at: "inbox.load(ordering: .sequentiallyConsistent) == .empty", .returns(1), foundBy: look),
      Mutant(
        "an external worker's last check skips the local queues", in: "Pool+Park.swift",
        at: "workerCount.load(ordering: .sequentiallyConsistent)", .returns(0),
        foundBy: "external worker: one over the width leaves its work to others"),
      Mutant(
        "an external worker is counted with a load and a store", in: "Pool+Park.swift",
        at: "state.transition(.sequentiallyConsistent, to: transition",
        after: "func changeIfApplicable",
        .splits, foundBy: brings),
      Mutant(
        "a thread that leaves the poller is still counted there", in: "Poller.swift",
        at: "state.transition({ $0.leaving()", .skips, foundBy: long),
      Mutant(
        "the receiver does not check the registration", in: "Lock.swift",
        at: "let (won, _) = word.compareExchange(", after: "public borrowing func lock()",
        .isBlind, foundBy: "poller: an ended registration receives no event"),
    ]
  }
}

private enum ExternalWorkers {
  static func begin(_ externalWorker: Worker) -> ThreadContext {
    externalWorker.thread = currentThread()
    return currentThread()
  }

  /// Runs the jobs as a poller's thread does: in the pool, or by submitting them if no CPU is free.
  static func run(_ pool: Pool, _ externalWorker: Worker, _ jobs: [Job]) {
    let submit = { for job in jobs { pool.submit(job) } }
    if !pool.runInline(as: externalWorker, on: begin(externalWorker), deliver: submit) { submit() }
  }

  /// Registers each receiver for a descriptor of its own.
  static func listen(_ receivers: [Receiver], _ stage: EventScene) {
    for (place, receiver) in receivers.enumerated() {
      let descriptor = ModelKernel.first + Int32(place)
      ModelKernel.open(descriptor)
      let key = stage.poller.register(receiver).registration.key
      _ = ReadinessSet.add(ModelKernel.set, descriptor, .readable, .edge, key: key)
    }
  }

  static func write(to receivers: [Receiver]) {
    for place in receivers.indices {
      ModelKernel.becomeReady(ModelKernel.first + Int32(place), .readable)
    }
  }

  static func expectNotifiedOnce(_ receivers: [Receiver]) {
    for receiver in receivers {
      Checker.expect(
        receiver.notified.count == 1, "an event was delivered \(receiver.notified.count) times")
    }
  }
}

private final class Receiver: ReadinessReceiver, @unchecked Sendable {
  let notified = Tally()
  private let onNotified: () -> Void

  init(_ onNotified: @escaping () -> Void) { self.onNotified = onNotified }

  func descriptorWasClosed() -> (any ResourceRetry)? { nil }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    notified.one()
    onNotified()
  }
}
