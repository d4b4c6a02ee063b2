// Room: Models/Onces. Once: the first caller runs the closure, the others wait for its end.
// Invariant: the closure runs once, and each caller returns after its end and sees what it
// wrote.
// Protocol: Coordination/Once: not begun, running, running with waiters, done.

extension Catalogue {
  static var onces: [EngineModel] {
    [
      EngineModel("once: two threads call it", Onces.come(threads: 2)),
      EngineModel("once: three threads call it", Onces.come(threads: 3)),
      EngineModel(
        "once: three threads call it, with spurious wake-ups", adjust: { $0.spuriousWakes = 1 },
        Onces.come(threads: 3)),
      EngineModel("once: two threads call it twice", Onces.comeAgain),
    ]
  }

  static var onceMutants: [Mutant] {
    [
      Mutant(
        "two threads run the closure", in: "Once.swift",
        at: "let (won, now) = word.compareExchange(",
        .isBlind, foundBy: "once: two threads call it"),
      Mutant(
        "the end does not release", in: "Once.swift", at: "word.exchange(OnceState.done",
        .dropsRelease, foundBy: "once: two threads call it"),
      Mutant(
        "a late caller does not acquire", in: "Once.swift",
        at: "if word.load(ordering: .acquiring) != OnceState.done.rawValue", .dropsAcquire,
        foundBy: "once: two threads call it"),
      Mutant(
        "the end wakes no thread", in: "Once.swift", at: "futexWake(lowHalfOf: word", .skips,
        foundBy: "once: two threads call it"),
      Mutant(
        "the end wakes one thread", in: "Once.swift", at: "futexWake(lowHalfOf: word", .wakesOne,
        foundBy: "once: three threads call it"),
      Mutant(
        "a waiter is not recorded", in: "Once.swift", at: "let (won, _) = word.compareExchange(",
        .skips, foundBy: "once: two threads call it"),
      Mutant(
        "a waiter sleeps without checking the word", in: "Once.swift",
        at: "futexWait(lowHalfOf: word",
        .sleepsBlindly, foundBy: "once: two threads call it"),
    ]
  }
}

private enum Onces {
  private final class Place {
    let once = Once()
  }

  static func come(threads: Int) -> @Sendable (Scene) -> Void {
    { scene in
      let place = Place()
      let made = Plain()
      let runs = Journal()
      for _ in 0..<threads {
        scene.thread {
          place.once.run {
            runs.add(1)
            made.value += 1
          }
          Checker.expect(made.value == 1, "it is not over")
        }
      }
      scene.finally {
        Checker.expect(runs.entries.count == 1, "it ran \(runs.entries.count) times")
      }
    }
  }

  static func comeAgain(_ scene: Scene) {
    let place = Place()
    let made = Plain()
    for _ in 0..<2 {
      scene.thread {
        for _ in 0..<2 {
          place.once.run { made.value += 1 }
          Checker.expect(made.value == 1, "it is not over")
        }
      }
    }
  }
}
