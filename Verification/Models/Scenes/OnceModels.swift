// Room: Models/Onces. Once: the first caller runs the closure, the others wait for its end.

extension Catalogue {
  static var onces: [EngineModel] {
    [
      EngineModel("once: two come", Onces.come(threads: 2)),
      EngineModel("once: three come", Onces.come(threads: 3)),
      EngineModel(
        "once: three come, and sleeps fail", adjust: { $0.spuriousWakes = 1 },
        Onces.come(threads: 3)),
      EngineModel("once: two come, and come again", Onces.comeAgain),
    ]
  }

  static var onceMutants: [Mutant] {
    [
      Mutant(
        "two begin", in: "Once.swift", at: "let (won, now) = word.compareExchange(",
        .isBlind, foundBy: "once: two come"),
      Mutant(
        "the end hands nothing over", in: "Once.swift", at: "word.exchange(OnceState.done",
        .dropsRelease, foundBy: "once: two come"),
      Mutant(
        "a late comer acquires nothing", in: "Once.swift",
        at: "if word.load(ordering: .acquiring) != OnceState.done.rawValue", .dropsAcquire,
        foundBy: "once: two come"),
      Mutant(
        "the end wakes nobody", in: "Once.swift", at: "futexWake(lowHalfOf: word", .skips,
        foundBy: "once: two come"),
      Mutant(
        "the end wakes one", in: "Once.swift", at: "futexWake(lowHalfOf: word", .wakesOne,
        foundBy: "once: three come"),
      Mutant(
        "a waiter is not told of", in: "Once.swift", at: "let (won, _) = word.compareExchange(",
        .skips, foundBy: "once: two come"),
      Mutant(
        "a waiter sleeps without a look", in: "Once.swift", at: "futexWait(lowHalfOf: word",
        .sleepsBlindly, foundBy: "once: two come"),
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
