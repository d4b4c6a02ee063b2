// Room: Models/Performs. The state of concurrentPerform: claims, the count of finished iterations,
// the single grant.

extension Catalogue {
  static var performs: [EngineModel] {
    [
      EngineModel("perform: one helper joins", Performs.run(iterations: 2, helpers: 1)),
      EngineModel(
        "perform: one helper joins, with spurious failures",
        adjust: {
          $0.spuriousWakes = 1
          $0.spuriousFailures = 1
        }, Performs.run(iterations: 2, helpers: 1)),
      EngineModel(
        "perform: two iterations are claimed at once", Performs.run(iterations: 4, helpers: 1)),
      EngineModel("perform: two helpers join", Performs.run(iterations: 3, helpers: 2)),
      EngineModel(
        "perform: the caller began alone", Performs.run(iterations: 3, alone: 1, helpers: 1)),
      EngineModel("perform: a helper of an earlier loop is late", Performs.runTwice),
      EngineModel("perform: the caller waits in an iteration", Performs.waitInside),
    ]
  }

  static var performMutants: [Mutant] {
    [
      Mutant(
        "a count of iterations does not release", in: "ConcurrentPerform.swift",
        at: "done.wrappingAdd(", .dropsRelease, foundBy: "perform: one helper joins"),
      Mutant(
        "a count of iterations does not acquire", in: "ConcurrentPerform.swift",
        at: "done.wrappingAdd(", .dropsAcquire, foundBy: "perform: one helper joins"),
      Mutant(
        "a count of iterations is a load and a store", in: "ConcurrentPerform.swift",
        at: "done.wrappingAdd(", .splits, foundBy: "perform: one helper joins"),
      Mutant(
        "a claim is not compared", in: "ConcurrentPerform.swift",
        at: "next.weakCompareExchange(", .isBlind,
        foundBy: "perform: two iterations are claimed at once"),
      Mutant(
        "a claim of one iteration is a load and a store", in: "ConcurrentPerform.swift",
        at: "next.wrappingAdd(1", .splits, foundBy: "perform: one helper joins"),
    ]
  }
}

private enum Performs {
  static func run(
    iterations: Int, alone: Int = 0, helpers: Int
  ) -> @Sendable (Scene) -> Void {
    { scene in
      scene.thread("caller") { loop(iterations: iterations, alone: alone, helpers: helpers) {} }
    }
  }

  static func runTwice(_ scene: Scene) {
    scene.thread("caller") {
      loop(iterations: 2, helpers: 1) {}
      loop(iterations: 2, helpers: 1) {}
    }
  }

  /// An iteration on the calling thread uses the thread's parker for another wait.
  static func waitInside(_ scene: Scene) {
    scene.thread("caller") {
      let thread = currentThread()
      loop(iterations: 2, helpers: 1) {
        guard currentThread() == thread else { return }
        Parker.prepare(thread)
        Checker.spawn("granter") { Parker.grant(thread) }
        _ = Parker.sleep(thread)
      }
    }
  }

  /// Does what concurrentPerform does; the schedule decides when the helpers arrive.
  private static func loop(
    iterations: Int, alone: Int = 0, helpers: Int, _ work: @escaping () -> Void
  ) {
    let thread = currentThread()
    let runs = (0..<iterations).map { _ in Plain() }
    let call: (Int) -> Void = { index in
      runs[index].value += 1
      work()
    }
    for index in 0..<alone { call(index) }
    withUnsafePointer(to: PerformBody(call: call)) { body in
      let state = PerformState(
        iterations: iterations, from: alone, threads: helpers + 1, waiter: thread, body: body)
      for _ in 0..<helpers { Checker.spawn("helper") { state.help(on: currentThread()) } }
      var count = 0
      var range = state.claim()
      while !range.isEmpty {
        for index in range { call(index) }
        count += range.count
        range = state.claim()
      }
      state.finishAndWait(count, thread)
    }
    for run in runs {
      // A write, so that it races with an iteration that still runs.
      run.value += 1
      Checker.expect(run.value == 2, "an iteration ran \(run.value - 1) times, not once")
    }
  }
}
