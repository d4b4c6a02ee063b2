// Room: Models/Primitives. Lock, Parker and the retriers of ThreadlessRetry.
// Invariant: a lock is held by one thread, and no addition under it is lost; a sleep ends after
// its grant, and each grant ends one sleep; a retrier that is published retries.
// Protocol: Primitives/Lock, Primitives/Parker, Primitives/ThreadlessRetry.

extension Catalogue {
  static var primitives: [EngineModel] {
    [
      EngineModel("lock: two threads add", Primitives.lock(threads: 2, times: 1)),
      EngineModel("lock: two threads add twice", Primitives.lock(threads: 2, times: 2)),
      EngineModel("lock: three threads add", Primitives.lock(threads: 3, times: 1)),
      EngineModel(
        "lock: two threads add, with spurious wake-ups", adjust: { $0.spuriousWakes = 1 },
        Primitives.lock(threads: 2, times: 1)),
      EngineModel("parker: one grant", Primitives.grant),
      EngineModel("parker: two grants", Primitives.grantTwice),
      EngineModel(
        "parker: two grants, with spurious wake-ups", adjust: { $0.spuriousWakes = 1 },
        Primitives.grantTwice),
      EngineModel(
        "parker: a grant races with the deadline", adjust: { $0.timeOuts = 1 },
        Primitives.deadline),
      EngineModel("parker: a check before sleeping", Primitives.look),
      EngineModel(
        "threadless retry: one thread begins and ends it, another retries", Primitives.retry),
    ]
  }

  static var primitiveMutants: [Mutant] {
    [
      Mutant(
        "an unlock does not release", in: "Lock.swift", at: "word.exchange(0", .dropsRelease,
        foundBy: "lock: two threads add"),
      Mutant(
        "a lock does not acquire", in: "Lock.swift", at: "let (won, _) = word.compareExchange(",
        after: "public borrowing func lock()", .dropsAcquire, foundBy: "lock: two threads add"),
      Mutant(
        "a late lock does not acquire", in: "Lock.swift", at: "word.exchange(2", .dropsAcquire,
        foundBy: "lock: two threads add"),
      Mutant(
        "a lock does not compare", in: "Lock.swift", at: "let (won, _) = word.compareExchange(",
        after: "public borrowing func lock()", .splits, foundBy: "lock: two threads add"),
      Mutant(
        "an unlock wakes no thread", in: "Lock.swift", at: "futexWake(word)", .skips,
        foundBy: "lock: two threads add"),
      Mutant(
        "a woken thread clears the flag of other sleepers", in: "Lock.swift", at: "word.exchange(2",
        .clears(bits: 3), foundBy: "lock: two threads add"),
      Mutant(
        "a lock's waiter sleeps without checking the word", in: "Lock.swift",
        at: "futexWaitPlainly(word",
        .sleepsBlindly, foundBy: "lock: two threads add"),
      Mutant(
        "a grant does not release", in: "Parker.swift", at: "shared.parker.exchange(1",
        .dropsRelease, foundBy: "parker: one grant"),
      Mutant(
        "a grant wakes no thread", in: "Parker.swift", at: "shared.parker.exchange(1", .splits,
        foundBy: "parker: one grant"),
      Mutant(
        "a sleeper overwrites its grant", in: "Parker.swift",
        at: "let (first, seen) = shared.parker.compareExchange(", .isBlind,
        foundBy: "parker: one grant"),
      Mutant(
        "the last grant is not consumed", in: "Parker.swift",
        at: "$0.parker.store(0", .skips, foundBy: "parker: two grants"),
      Mutant(
        "a retry is not published", in: "ThreadlessRetry.swift", at: "count.store(list.count",
        .skips,
        foundBy: "threadless retry: one thread begins and ends it, another retries"),
      Mutant(
        "a granted check does not acquire", in: "Parker.swift",
        at: "$0.parker.load(ordering: .acquiring) == 1", .dropsAcquire,
        foundBy: "parker: a check before sleeping"),
    ]
  }
}

private enum Primitives {
  private final class Guard {
    let lock = Lock()
  }

  static func lock(threads: Int, times: Int) -> @Sendable (Scene) -> Void {
    { scene in
      let guarded = Guard()
      let sum = Plain()
      for _ in 0..<threads {
        scene.thread {
          for _ in 0..<times { guarded.lock.withLock { sum.value += 1 } }
        }
      }
      scene.finally {
        Checker.expect(sum.value == threads * times, "an addition was lost")
      }
    }
  }

  /// A slot in which a waiter publishes itself, and from which the granter takes it.
  private final class Slot {
    private let word = Atomic<UInt>(0)

    func publish(_ thread: ThreadContext) {
      word.store(UInt(bitPattern: thread), ordering: .releasing)
    }

    /// Takes the published waiter, once.
    func take() -> ThreadContext? {
      ThreadContext(bitPattern: word.exchange(0, ordering: .acquiring))
    }
  }

  /// A meeting of a waiter and a granter. The granter grants only if it arrives second.
  private final class Meeting {
    private let word = Atomic<UInt>(0)

    /// Announces the waiter. False: the granter was here before and will not return.
    func isFirst(_ thread: ThreadContext) -> Bool {
      word.exchange(UInt(bitPattern: thread), ordering: .acquiringAndReleasing) == 0
    }

    func grantIfThere() {
      if let waiter = ThreadContext(
        bitPattern: word.exchange(1, ordering: .acquiringAndReleasing))
      {
        Parker.grant(waiter)
      }
    }
  }

  private static func sleep(in meeting: Meeting) {
    let thread = currentThread()
    Parker.prepare(thread)
    if meeting.isFirst(thread) {
      Checker.expect(Parker.sleep(thread), "a sleep without a deadline ended without a grant")
    }
  }

  static func grant(_ scene: Scene) {
    let meeting = Meeting()
    let given = Plain()
    scene.thread("waiter") {
      sleep(in: meeting)
      Checker.expect(given.value == 1, "the sleep ended before the grant")
    }
    scene.thread("granter") {
      given.value = 1
      meeting.grantIfThere()
    }
  }

  /// The first grant's wake-up may arrive during the second sleep.
  static func grantTwice(_ scene: Scene) {
    let (first, second) = (Meeting(), Meeting())
    let (given, givenThen) = (Plain(), Plain())
    scene.thread("waiter") {
      sleep(in: first)
      Checker.expect(given.value == 1, "the sleep ended before the first grant")
      sleep(in: second)
      Checker.expect(givenThen.value == 1, "the sleep ended before the second grant")
    }
    scene.thread("granter") {
      given.value = 1
      first.grantIfThere()
    }
    scene.thread("other granter") {
      givenThen.value = 1
      second.grantIfThere()
    }
  }

  /// A waiter that gives up withdraws its thread; if the granter has taken it, a grant follows.
  static func deadline(_ scene: Scene) {
    let slot = Slot()
    let given = Plain()
    let thread = ModelThreads.context(1)
    Parker.prepare(thread)
    slot.publish(thread)
    scene.thread("waiter") {
      var isGranted = Parker.sleep(thread, until: .monotonic(nanoseconds: soon))
      if !isGranted && slot.take() == nil { isGranted = Parker.sleep(thread) }
      if isGranted {
        Checker.expect(given.value == 1, "the sleep ended before the grant")
      }
    }
    scene.thread("granter") {
      given.value = 1
      if let waiter = slot.take() { Parker.grant(waiter) }
    }
  }

  static func look(_ scene: Scene) {
    let given = Plain()
    let thread = ModelThreads.context(1)
    Parker.prepare(thread)
    scene.thread("waiter") {
      if !Parker.isGranted(thread) { _ = Parker.sleep(thread) }
      Checker.expect(given.value == 1, "the wait ended before the grant")
    }
    scene.thread("granter") {
      given.value = 1
      Parker.grant(thread)
    }
  }

  private final class Retrier: ThreadlessRetrying, @unchecked Sendable {
    let retries = Journal()
    func retry() { retries.add(1) }
  }

  static func retry(_ scene: Scene) {
    let retriers = ThreadlessRetriers()
    let watched = Retrier()
    retriers.change { $0.append(watched) }
    scene.thread("beginner") {
      let retrier = Retrier()
      retriers.change { $0.append(retrier) }
      Checker.expect(retriers.count.load(ordering: .relaxed) > 0, "the retry is not seen")
      retriers.change { $0.removeAll { $0 === retrier } }
    }
    scene.thread("sleeper") {
      for retrier in retriers.current { retrier.retry() }
    }
    scene.finally {
      Checker.expect(watched.retries.entries == [1], "the retrier did not retry")
      retriers.change { $0.removeAll { $0 === watched } }
      Checker.expect(retriers.count.load(ordering: .relaxed) == 0, "a retry is left")
      Checker.expect(retriers.current.isEmpty, "a retrier is left")
    }
  }
}
