// Room: Models/Sources. Data that reaches a source reaches its handler once, and no event follows
// the source's end.

extension Catalogue {
  static var sources: [EngineModel] {
    [
      EngineModel("source: data added by two threads is delivered", reach: .bounded(preemptions: 3))
      {
        scene in
        let scenery = SourceScene()
        scene.thread("first") { scenery.source.add(data: 1) }
        scene.thread("second") { scenery.source.add(data: 2) }
        scene.finally {
          Checker.expect(scenery.sum.value == 3, "3 was added, \(scenery.sum.value) notified")
        }
      },
      EngineModel("source: data added while the handler runs is delivered") { scene in
        let scenery = SourceScene()
        scene.thread("adds") {
          scenery.source.add(data: 1)
          scenery.source.add(data: 2)
        }
        scene.finally {
          Checker.expect(scenery.sum.value == 3, "3 was added, \(scenery.sum.value) notified")
        }
      },
      EngineModel("source: cancellation races with an event", reach: .bounded(preemptions: 3)) {
        scene in
        let scenery = SourceScene()
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectCancelledOnce() }
      },
      EngineModel("source: cancelled by two threads") { scene in
        let scenery = SourceScene()
        for _ in 0..<2 { scene.thread { scenery.source.cancel() } }
        scene.finally { scenery.expectCancelledOnce() }
      },
    ] + activations + endings + handlers
  }

  static var sourceMutants: [Mutant] {
    let notified = "source: data added while the handler runs is delivered"
    return [
      Mutant(
        "an event is not queued again", in: "DispatchSource.swift",
        at: "sourceState.transition({ $0.beginningEvent()",
        .sets(bits: UInt64(SourceState.queued)),
        foundBy: notified),
      Mutant(
        "one addition overwrites another", in: "UserDataSource.swift",
        at: "pending.wrappingAdd(value", .splits,
        foundBy: "source: data added by two threads is delivered"),
    ] + activationMutants + endingMutants + handlerMutants
  }
}

/// A source of user data, active or about to be, and the sum that its handlers received.
private final class SourceScene: @unchecked Sendable {
  let source: DispatchSource
  let sum = Plain()
  private let cancelled = Plain()

  init() {
    guard
      let made = DispatchSource.makeUserDataAddSource(queue: SpawningRoot()) as? DispatchSource
    else { Checker.fail("no source") }
    source = made
    let (sum, cancelled) = (sum, cancelled)
    source.setEventHandler { [unowned made] in
      Checker.expect(cancelled.value == 0, "an event after the cancellation")
      sum.value += Int(made.data)
    }
    source.setCancelHandler { cancelled.value += 1 }
    source.activate()
  }

  func expectCancelledOnce() {
    Checker.expect(cancelled.value == 1, "the cancel handler ran \(cancelled.value) times")
  }
}
