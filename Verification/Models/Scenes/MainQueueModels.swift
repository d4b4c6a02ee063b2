// Room: Models/MainQueues. The main queue: the word that says that there is work, and the wake-up
// descriptor of a run loop.

extension Catalogue {
  static var mainQueues: [EngineModel] {
    [
      EngineModel(
        "main queue: one thread submits, the main thread sleeps", Mains.submit(threads: 1)),
      EngineModel(
        "main queue: two threads submit, the main thread sleeps", Mains.submit(threads: 2)),
      EngineModel(
        "main queue: one thread submits, with spurious failures",
        adjust: {
          $0.spuriousWakes = 1
          $0.spuriousFailures = 1
        }, Mains.submit(threads: 1)),
      EngineModel("main queue: a retry begins while a thread submits", Mains.joinRetry),
      EngineModel("main queue: the sleeping main thread is woken for a retry", Mains.retryAsleep),
      EngineModel("main queue: the busy main thread is called for a retry", Mains.retryAtWork),
      EngineModel(
        "main queue: a retry that ends and begins again calls the main thread", Mains.retryAgain),
      EngineModel(
        "main queue: a run loop requests its descriptor while a thread submits",
        Mains.wakeDescriptor
      ),
      EngineModel("main queue: the main thread ends while a thread submits", Mains.end(threads: 1)),
      EngineModel(
        "main queue: the main thread ends while two threads submit",
        reach: .bounded(preemptions: 2), Mains.end(threads: 2)),
    ]
  }

  static var mainQueueMutants: [Mutant] {
    let end = "main queue: the main thread ends while a thread submits"
    return [
      Mutant(
        "a submitter signals before it publishes the item", in: "MainQueue.swift",
        at: "signal.change(.sequentiallyConsistent",
        .dropsSequential,
        foundBy: "main queue: a run loop requests its descriptor while a thread submits",
        isWeak: true),
      Mutant(
        "a submitter reads a stale wake-up descriptor", in: "MainQueue.swift",
        at: "descriptor.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: "main queue: a run loop requests its descriptor while a thread submits",
        isWeak: true),
      Mutant(
        "a run loop publishes its wake-up descriptor too late", in: "MainQueue.swift",
        at: "descriptor.store(made",
        .dropsSequential,
        foundBy: "main queue: a run loop requests its descriptor while a thread submits",
        isWeak: true),
      Mutant(
        "a run loop reads a stale signal", in: "MainQueue.swift",
        at: "signal.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: "main queue: a run loop requests its descriptor while a thread submits",
        isWeak: true),
      Mutant(
        "a submitter wakes no thread", in: "MainQueue.swift", at: "futexWake(signal)",
        after: "wakeBoundThread", .skips,
        foundBy: "main queue: one thread submits, the main thread sleeps"),
      Mutant(
        "the main thread clears a signal that it has not seen", in: "MainQueue.swift",
        at: "signal.change(.acquiring", .splits,
        foundBy: "main queue: two threads submit, the main thread sleeps"),
      Mutant(
        "the main thread sleeps although work is queued", in: "MainQueue.swift",
        at: "signal.transition(.relaxed", .splits,
        foundBy: "main queue: one thread submits, the main thread sleeps"),
      Mutant(
        "the thread that begins a retry wakes no thread", in: "MainQueue.swift",
        at: "futexWake(signal)",
        after: "func joinRetry", .skips,
        foundBy: "main queue: the sleeping main thread is woken for a retry"),
      Mutant(
        "the ending main thread loses work that is announced meanwhile", in: "MainQueue+End.swift",
        at: "signal.change(.acquiringAndReleasing", .splits, foundBy: end),
      Mutant(
        "a submitter does not see that the main thread has ended", in: "MainQueue+End.swift",
        at: "signal.change(.acquiringAndReleasing", .clears(bits: 8), foundBy: end),
    ]
  }
}

enum Mains {
  /// Adds the main thread, which never ends: it must be asleep when all items have run.
  static func addMainThread(_ scene: Scene, number: Int, _ main: MainQueue) {
    ThreadRegistry.mainThread = ModelThreads.context(number)
    scene.keep(main)
    // The thread never ends, so a counted reference on its stack would leak.
    let main = Unmanaged.passUnretained(main)
    scene.thread("main", isDaemon: true) {
      main._withUnsafeGuaranteedRef { (main: MainQueue) -> Void in main.drainForEver() }
    }
  }

  static func submit(threads: Int) -> @Sendable (Scene) -> Void {
    { scene in
      let main = MainQueue()
      let sum = Plain()
      for _ in 0..<threads {
        scene.thread("submitter") { main.asyncUnsafe { sum.value += 1 } }
      }
      addMainThread(scene, number: threads + 1, main)
      scene.finally {
        Checker.expect(sum.value == threads, "\(sum.value) of \(threads) items ran")
        ModelThreads.expectAllNodesBack()
      }
    }
  }

  static func joinRetry(_ scene: Scene) {
    let main = MainQueue()
    let sum = Plain()
    scene.thread("submitter") { main.asyncUnsafe { sum.value += 1 } }
    scene.thread("retrier") { main.joinRetry() }
    addMainThread(scene, number: 3, main)
    scene.finally { Checker.expect(sum.value == 1, "the item did not run") }
  }

  /// A thread that signals the main thread for a retry has begun it before. The main thread must
  /// see the retry before it sleeps again.
  static func retryAsleep(_ scene: Scene) {
    let main = MainQueue()
    let retry = Tally()
    ThreadRegistry.mainThread = ModelThreads.context(1)
    scene.thread("main") {
      main.drainOnce()
      if retry.count == 1 { return }
      main.grandCentralMainIdle()
      main.drainOnce()
      Checker.expect(retry.count == 1, "the retry is not seen")
    }
    scene.thread("retrier") {
      retry.one()
      main.joinRetry()
    }
    scene.keep(main)
  }

  /// The main thread must also see the retry if it has work at the time of the signal.
  static func retryAtWork(_ scene: Scene) {
    let main = MainQueue()
    let retry = Tally()
    ThreadRegistry.mainThread = ModelThreads.context(1)
    main.asyncUnsafe {}
    scene.thread("main") {
      while main.drainOnce() {}
      if retry.count == 1 { return }
      main.grandCentralMainIdle()
      while main.drainOnce() {}
      Checker.expect(retry.count == 1, "the retry is not seen")
    }
    scene.thread("retrier") {
      retry.one()
      main.joinRetry()
    }
    scene.keep(main)
  }

  /// A thread that ends a retry and begins it again must wake a main thread that looked in between.
  static func retryAgain(_ scene: Scene) {
    let main = MainQueue()
    let (pool, job) = (Pool.small(monitorMode: .absent, refusesAll: true), Job())
    pool.whenRetriesBegin = { main.joinRetry() }
    ThreadRegistry.mainThread = ModelThreads.context(1)
    ThreadlessRetry.begin(pool)
    scene.thread("main") {
      while true {
        while main.drainOnce() {}
        if ThreadlessRetry.hasRetriers { return }
        main.grandCentralMainIdle()
      }
    }
    scene.thread("submitter") {
      pool.publish(job)
      pool.retryWithoutThread()
    }
    scene.thread("sleeper") { pool.retry() }
    scene.keep(main)
    scene.finally {
      Checker.expect(pool.endRetries(), "work waits, and the retry has ended")
    }
  }

  /// The main thread drains once and ends. Items that it leaves, and later ones, run on workers.
  static func end(threads: Int) -> @Sendable (Scene) -> Void {
    { scene in
      let root = SpawningRoot()
      let main = MainQueue(workers: root)
      let sum = Plain()
      ThreadRegistry.mainThread = ModelThreads.context(1)
      scene.thread("main") {
        main.drainOnce()
        main.mainThreadEnds()
      }
      for _ in 0..<threads {
        scene.thread("submitter") {
          main.asyncUnsafe {
            sum.value += 1
            Checker.expect(main.isBoundTo(currentThread()), "the queue is another thread's")
          }
        }
      }
      scene.finally {
        Checker.expect(sum.value == threads, "\(sum.value) of \(threads) items ran")
        ModelThreads.expectAllNodesBack()
        withExtendedLifetime(root) {}
      }
    }
  }

  static func wakeDescriptor(_ scene: Scene) {
    let main = MainQueue()
    let sum = Plain()
    ThreadRegistry.mainThread = ModelThreads.context(1)
    scene.thread("main") {
      guard let wakeDescriptor = try? main.runLoopDescriptor() else { return }
      EventFD.hear(wakeDescriptor)
      main.drainOnce()
      Checker.expect(sum.value == 1, "the wake-up descriptor rang for nothing")
    }
    scene.thread("submitter") { main.asyncUnsafe { sum.value += 1 } }
  }
}
