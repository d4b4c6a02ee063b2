// Room: Models/OneShot. The word between a task that waits and the threads that may complete it: a
// timer that fires, or work that starts, beside a cancellation.

extension Catalogue {
  static var oneShots: [EngineModel] {
    [
      EngineModel("one-shot: one thread completes, one waits", OneShots.completeAndWait),
      EngineModel("one-shot: a timer fires, the task is cancelled", OneShots.fireAndCancel),
      EngineModel("one-shot: work starts or is removed", OneShots.startAndRemove),
    ]
  }

  static var oneShotMutants: [Mutant] {
    let file = "OneShot.swift"
    let pair = "one-shot: one thread completes, one waits"
    let cancelled = "one-shot: a timer fires, the task is cancelled"
    let set = "word.bitwiseOr(Self.set"
    let waits = "word.bitwiseOr(Self.awaited"
    return [
      Mutant(
        "a claim is a load and a store", in: file, at: "word.bitwiseOr(Self.claimed", .splits,
        foundBy: cancelled),
      Mutant(
        "removed work is claimed twice", in: file, at: "word.bitwiseOr(Self.claimed", .splits,
        foundBy: "one-shot: work starts or is removed"),
      Mutant("a value is not released", in: file, at: set, .dropsRelease, foundBy: pair),
      Mutant("a waiter is not acquired", in: file, at: set, .dropsAcquire, foundBy: pair),
      Mutant("setting loses the waiter", in: file, at: set, .splits, foundBy: pair),
      Mutant("a waiter is not released", in: file, at: waits, .dropsRelease, foundBy: pair),
      Mutant("a value is not acquired", in: file, at: waits, .dropsAcquire, foundBy: pair),
      Mutant("waiting loses the value", in: file, at: waits, .splits, foundBy: pair),
    ]
  }
}

/// Records the value with which it is resumed, in the place of a task.
private struct Recorder: Waiter {
  let values: Journal
  let plain: Plain

  func resume(with value: sending Int) {
    // The completing thread wrote this before: a resumed task reads it without a race.
    values.add(value * 10 + plain.value)
  }
}

private enum OneShots {
  static func completeAndWait(_ scene: Scene) {
    let (shot, plain, values) = (OneShot<Recorder>(), Plain(), Journal())
    scene.thread("completes") {
      plain.value = 1
      Checker.expect(shot.complete(2), "the only thread came too late")
    }
    scene.thread("waits") { shot.await(Recorder(values: values, plain: plain)) }
    scene.finally { Checker.expect(values.entries == [21], "resumed with \(values.entries)") }
  }

  /// The task is resumed once, with the value of the thread that was faster.
  static func fireAndCancel(_ scene: Scene) {
    let (shot, plain, values, winners) = (OneShot<Recorder>(), Plain(), Journal(), Journal())
    for value in 1...2 {
      scene.thread(value == 1 ? "fires" : "cancels") {
        if shot.complete(value) { winners.add(value * 10) }
      }
    }
    scene.thread("waits") { shot.await(Recorder(values: values, plain: plain)) }
    scene.finally {
      Checker.expect(winners.entries.count == 1, "\(winners.entries.count) threads completed")
      Checker.expect(values.entries == winners.entries, "resumed with \(values.entries)")
    }
  }

  /// As in `DispatchQueue.run`: the work is plain memory of the thread that claims.
  static func startAndRemove(_ scene: Scene) {
    let (shot, work, values) = (OneShot<Recorder>(), Plain(), Journal())
    work.value = 1
    for value in 1...2 {
      scene.thread(value == 1 ? "starts" : "removes") {
        guard shot.claim() else { return }
        Checker.expect(work.value == 1, "the work was taken twice")
        work.value = 0
        shot.set(value)
      }
    }
    scene.thread("waits") { shot.await(Recorder(values: values, plain: work)) }
    scene.finally {
      Checker.expect(
        values.entries == [10] || values.entries == [20], "resumed with \(values.entries)")
    }
  }
}
