// Room: Models/Semaphores. DispatchSemaphore: permits, grants, and waiters that time out.
// Invariant: a wait ends after its signal and sees what came before it; no permit is lost or
// doubled, also when a deadline races with the signal.
// Protocol: Coordination/SemaphoreState: the value counts permits and waiters, the hand-off
// grants.

extension Catalogue {
  static var semaphores: [EngineModel] {
    [
      EngineModel("semaphore: one thread signals, one waits", Semaphores.handOver),
      EngineModel(
        "semaphore: one thread signals, one waits, with spurious failures",
        adjust: {
          $0.spuriousWakes = 1
          $0.spuriousFailures = 1
        }, Semaphores.handOver),
      EngineModel("semaphore: a permit as a lock", Semaphores.lock(threads: 2)),
      EngineModel(
        "semaphore: a permit as a lock for three", reach: .exhaustedStrong,
        Semaphores.lock(threads: 3)),
      EngineModel("semaphore: two permits for three", Semaphores.twoPermits),
      EngineModel("semaphore: one thread signals twice, two wait", Semaphores.twoWait),
      EngineModel("semaphore: two threads signal, one waits twice", Semaphores.twoSignal),
      EngineModel(
        "semaphore: two threads signal, two wait", reach: .exhaustedStrong, Semaphores.twoAndTwo),
      EngineModel(
        "semaphore: a deadline races with the signal", adjust: { $0.timeOuts = 1 },
        Semaphores.deadline),
      EngineModel(
        "semaphore: two deadlines, one signal", reach: .exhaustedStrong,
        // A waiter that times out too late to withdraw checks again after a while.
        adjust: {
          $0.timeOuts = 1
          $0.timePasses = true
        },
        Semaphores.twoDeadlines),
      EngineModel(
        "semaphore: one wait times out, one does not", reach: .exhaustedStrong,
        adjust: { $0.timeOuts = 1 },
        Semaphores.oneGivesUp),
    ]
  }
}

private enum Semaphores {
  static func handOver(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let given = Plain()
    scene.thread("signaller") {
      given.value = 1
      semaphore.signal()
    }
    scene.thread("waiter") {
      semaphore.wait()
      Checker.expect(given.value == 1, "the wait ended before the signal")
    }
    scene.finally { expect(semaphore, permits: 0) }
  }

  static func lock(threads: Int) -> @Sendable (Scene) -> Void {
    { scene in
      let semaphore = DispatchSemaphore(value: 1, spinLimit: 0)
      let guarded = Plain()
      for _ in 0..<threads {
        scene.thread {
          semaphore.wait()
          guarded.value += 1
          semaphore.signal()
        }
      }
      scene.finally {
        Checker.expect(guarded.value == threads, "an addition was lost")
        expect(semaphore, permits: 1)
      }
    }
  }

  static func twoPermits(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 2, spinLimit: 0)
    let inside = Tally()
    for _ in 0..<3 {
      scene.thread {
        semaphore.wait()
        inside.one()
        Checker.expect(inside.count <= 2, "three are inside")
        inside.oneLess()
        semaphore.signal()
      }
    }
    scene.finally { expect(semaphore, permits: 2) }
  }

  static func twoWait(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let given = Plain()
    scene.thread("signaller") {
      given.value = 1
      semaphore.signal()
      semaphore.signal()
    }
    for name in ["waiter", "other waiter"] {
      scene.thread(name) {
        semaphore.wait()
        Checker.expect(given.value == 1, "the wait ended before the signals")
      }
    }
    scene.finally { expect(semaphore, permits: 0) }
  }

  static func twoSignal(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let (first, second) = (Plain(), Plain())
    for given in [first, second] {
      scene.thread("signaller") {
        given.value = 1
        semaphore.signal()
      }
    }
    scene.thread("waiter") {
      semaphore.wait()
      semaphore.wait()
      Checker.expect(first.value + second.value == 2, "a wait ended before its signal")
    }
    scene.finally { expect(semaphore, permits: 0) }
  }

  static func twoAndTwo(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    for _ in 0..<2 {
      scene.thread("signaller") { semaphore.signal() }
      scene.thread("waiter") { semaphore.wait() }
    }
    scene.finally { expect(semaphore, permits: 0) }
  }

  static func deadline(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let given = Plain()
    let results = Journal()
    scene.thread("signaller") {
      given.value = 1
      semaphore.signal()
    }
    scene.thread("waiter") {
      if semaphore.wait(word: soon) == .success { results.add(given.value) }
    }
    scene.finally {
      Checker.expect(results.entries.allSatisfy { $0 == 1 }, "the wait ended before the signal")
      expect(semaphore, permits: 1 - results.entries.count)
    }
  }

  static func twoDeadlines(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let successes = Journal()
    scene.thread("signaller") { semaphore.signal() }
    for name in ["waiter", "other waiter"] {
      scene.thread(name) {
        if semaphore.wait(word: soon) == .success { successes.add(1) }
      }
    }
    scene.finally {
      Checker.expect(successes.entries.count <= 1, "one signal ended two waits")
      expect(semaphore, permits: 1 - successes.entries.count)
    }
  }

  /// The waiter without a deadline must get the permit that the other one leaves.
  static func oneGivesUp(_ scene: Scene) {
    let semaphore = DispatchSemaphore(value: 0, spinLimit: 0)
    let successes = Journal()
    scene.thread("signaller") {
      semaphore.signal()
      semaphore.signal()
    }
    scene.thread("hasty waiter") {
      if semaphore.wait(word: soon) == .success { successes.add(1) }
    }
    scene.thread("untimed waiter") { semaphore.wait() }
    scene.finally { expect(semaphore, permits: 1 - successes.entries.count) }
  }

  /// Takes the permits that must remain, and checks that there are no more. For verdicts.
  private static func expect(_ semaphore: DispatchSemaphore, permits: Int) {
    let left = semaphore.value.load(ordering: .relaxed)
    Checker.expect(left == permits, "\(left) permits are left, not \(permits)")
    for _ in 0..<permits {
      Checker.expect(semaphore.wait(word: 0) == .success, "a permit cannot be taken")
    }
    for _ in 0..<permits { semaphore.signal() }
  }
}

extension Catalogue {
  static var semaphoreMutants: [Mutant] {
    let file = "DispatchSemaphore.swift"
    let exchange = "handOff.weakCompareExchange("
    return [
      Mutant(
        "a grant does not release", in: file, at: "handOff.wrappingAdd", .dropsRelease,
        foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a taken grant does not acquire", in: file, at: exchange, after: "private func take(",
        .dropsAcquire, foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a permit does not release", in: file, at: "value.wrappingAdd(1", .dropsRelease,
        foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a permit does not acquire", in: file, at: "value.wrappingSubtract(1",
        after: "func waitForPermit() -> Int {", .dropsAcquire,
        foundBy: "semaphore: a permit as a lock"),
      Mutant(
        "a signal is a load and a store", in: file, at: "value.wrappingAdd(1", .splits,
        foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a wait is a load and a store", in: file, at: "value.wrappingSubtract(1",
        after: "func waitForPermit() -> Int {", .splits, foundBy: "semaphore: a permit as a lock"),
      Mutant(
        "a grant wakes no thread", in: file, at: "futexWake(lowHalfOf: handOff", .skips,
        foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a waiter sleeps without checking the word", in: file, at: "futexWait(lowHalfOf: handOff",
        .sleepsBlindly, foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a grant is taken without a comparison", in: file, at: exchange,
        after: "private func take(", .isBlind,
        foundBy: "semaphore: one thread signals twice, two wait"),
      Mutant(
        "a sleeper counts itself without a comparison", in: file, at: exchange,
        after: "private func doze(", .isBlind, foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a sleeper is not counted", in: file, at: exchange, after: "private func doze(",
        .clears(bits: 1 << 32), foundBy: "semaphore: one thread signals, one waits"),
      Mutant(
        "a timed-out waiter does not compare", in: file, at: "value.weakCompareExchange(",
        after: "private func withdraw(", .isBlind,
        foundBy: "semaphore: a deadline races with the signal"),
      Mutant(
        "a timed-out waiter stays counted", in: file, at: "value.weakCompareExchange(",
        after: "private func withdraw(", .skips,
        foundBy: "semaphore: a deadline races with the signal"),
    ]
  }
}
