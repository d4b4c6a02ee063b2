// Room: Models/Mains. The main queue: the word that says that there is work, and the wake-up
// descriptor of a run loop.

extension Catalogue {
  static var mains: [EngineModel] {
    [
      EngineModel("main queue: one submits, the main thread sleeps", Mains.submit(threads: 1)),
      EngineModel("main queue: two submit, the main thread sleeps", Mains.submit(threads: 2)),
      EngineModel(
        "main queue: one submits, and exchanges and sleeps fail",
        adjust: {
          $0.spuriousWakes = 1
          $0.spuriousFailures = 1
        }, Mains.submit(threads: 1)),
      EngineModel("main queue: a vigil begins while one submits", Mains.lookAround),
      EngineModel("main queue: a sleeper is called for a vigil", Mains.vigil),
      EngineModel("main queue: at work it is called for a vigil", Mains.retryAtWork),
      EngineModel("main queue: a vigil that ends and begins calls it", Mains.retryAgain),
      EngineModel(
        "main queue: a run loop asks for its wake-up descriptor while one submits",
        Mains.wakeDescriptor
      ),
    ]
  }

  static var mainMutants: [Mutant] {
    [
      Mutant(
        "whoever submits rings before it tells", in: "MainQueue.swift",
        at: "signal.change(.sequentiallyConsistent",
        .dropsSequential,
        foundBy: "main queue: a run loop asks for its wake-up descriptor while one submits",
        isWeak: true),
      Mutant(
        "whoever submits sees an old wake-up descriptor", in: "MainQueue.swift",
        at: "descriptor.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: "main queue: a run loop asks for its wake-up descriptor while one submits",
        isWeak: true),
      Mutant(
        "a run loop hangs its wake-up descriptor too late", in: "MainQueue.swift",
        at: "descriptor.store(made",
        .dropsSequential,
        foundBy: "main queue: a run loop asks for its wake-up descriptor while one submits",
        isWeak: true),
      Mutant(
        "a run loop sees an old signal", in: "MainQueue.swift",
        at: "signal.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: "main queue: a run loop asks for its wake-up descriptor while one submits",
        isWeak: true),
      Mutant(
        "whoever submits wakes nobody", in: "MainQueue.swift", at: "futexWake(signal)",
        after: "wakeBoundThread", .skips,
        foundBy: "main queue: one submits, the main thread sleeps"),
      Mutant(
        "the main thread clears a signal that it has not seen", in: "MainQueue.swift",
        at: "signal.change(.acquiring", .splits,
        foundBy: "main queue: two submit, the main thread sleeps"),
      Mutant(
        "the main thread sleeps over what has come", in: "MainQueue.swift",
        at: "signal.transition(.relaxed", .splits,
        foundBy: "main queue: one submits, the main thread sleeps"),
      Mutant(
        "whoever calls for a vigil wakes nobody", in: "MainQueue.swift", at: "futexWake(signal)",
        after: "func lookAround", .skips, foundBy: "main queue: a sleeper is called for a vigil"),
    ]
  }
}

private enum Mains {
  /// Adds the main thread, which never ends: it must be asleep when all items have run.
  private static func addMainThread(_ scene: Scene, number: Int, _ main: MainQueue) {
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

  static func lookAround(_ scene: Scene) {
    let main = MainQueue()
    let sum = Plain()
    scene.thread("submitter") { main.asyncUnsafe { sum.value += 1 } }
    scene.thread("keeper") { main.lookAround() }
    addMainThread(scene, number: 3, main)
    scene.finally { Checker.expect(sum.value == 1, "the item did not run") }
  }

  /// A thread that signals the main thread for a retry has begun it before. The main thread must
  /// see the retry before it sleeps again.
  static func vigil(_ scene: Scene) {
    let main = MainQueue()
    let vigil = Tally()
    ThreadRegistry.mainThread = ModelThreads.context(1)
    scene.thread("main") {
      main.drainOnce()
      if vigil.count == 1 { return }
      main.grandCentralMainIdle()
      main.drainOnce()
      Checker.expect(vigil.count == 1, "the vigil is not seen")
    }
    scene.thread("keeper") {
      vigil.one()
      main.lookAround()
    }
    scene.keep(main)
  }

  /// The main thread must also see the retry if it has work at the time of the signal.
  static func retryAtWork(_ scene: Scene) {
    let main = MainQueue()
    let vigil = Tally()
    ThreadRegistry.mainThread = ModelThreads.context(1)
    main.asyncUnsafe {}
    scene.thread("main") {
      while main.drainOnce() {}
      if vigil.count == 1 { return }
      main.grandCentralMainIdle()
      while main.drainOnce() {}
      Checker.expect(vigil.count == 1, "the vigil is not seen")
    }
    scene.thread("keeper") {
      vigil.one()
      main.lookAround()
    }
    scene.keep(main)
  }

  /// A thread that ends a retry and begins it again must wake a main thread that looked in between.
  static func retryAgain(_ scene: Scene) {
    let main = MainQueue()
    let (pool, job) = (Pool.small(monitorMode: .absent, refusesAll: true), Job())
    pool.whenRetriesBegin = { main.lookAround() }
    ThreadRegistry.mainThread = ModelThreads.context(1)
    ThreadlessRetry.begin(pool)
    scene.thread("main") {
      while true {
        while main.drainOnce() {}
        if ThreadlessRetry.isKept { return }
        main.grandCentralMainIdle()
      }
    }
    scene.thread("submitter") {
      pool.publish(job)
      pool.retryWithoutThread()
    }
    scene.thread("sleeper") { pool.attend() }
    scene.keep(main)
    scene.finally {
      Checker.expect(pool.endRetries(), "work waits, and the vigil has ended")
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
