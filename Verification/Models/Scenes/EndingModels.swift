// Room: Models/Endings. A source without a cancel handler ends inside cancel() if its lane is
// empty. The captures of its event handler are released once, on the queue.

extension Catalogue {
  static var endings: [EngineModel] {
    [
      EngineModel("source: destroyed inline during an event", reach: .bounded(preemptions: 3)) {
        scene in
        let scenery = EndingScene()
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectEnd(notified: 0...1) }
      },
      EngineModel("source: destroyed inline during its suspension") { scene in
        let scenery = EndingScene()
        scene.thread("suspends") {
          scenery.source.suspend()
          scenery.source.resume()
        }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectEnd(notified: 0...0) }
      },
      EngineModel(
        "source: destroyed inline during a change of its target", reach: .exhaustedStrong
      ) { scene in
        let scenery = EndingScene()
        let other = SpawningRoot("model.other")
        scene.keep(other)
        scene.thread("moves") { scenery.source.setTarget(queue: other) }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectEnd(notified: 0...0) }
      },
      EngineModel("source: destroyed inline while a handler is set") { scene in
        let scenery = EndingScene()
        scene.thread("sets") { scenery.handle() }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectEnd(notified: 0...0, of: 2) }
      },
    ]
  }

  static var endingMutants: [Mutant] {
    [
      Mutant(
        "a running source is destroyed inline", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func enterAtOnce",
        .isBlind, foundBy: "source: destroyed inline during an event"),
      Mutant(
        "the target is read relaxed", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func enterAtOnce",
        .dropsAcquire, foundBy: "source: destroyed inline during a change of its target"),
    ]
  }
}

/// An active source of user data, with counts of its notifications and of released handlers.
private final class EndingScene: @unchecked Sendable {
  let source: DispatchSource
  private let notified = Tally()
  private let ended = Tally()

  init() {

    guard
      let made = DispatchSource.makeUserDataAddSource(queue: SpawningRoot()) as? DispatchSource
    else { Checker.fail("no source") }
    source = made
    handle()
    source.activate()
  }

  func handle() {
    let kept = Kept(ended)
    source.setEventHandler { [notified] in
      withExtendedLifetime(kept) { notified.one() }
    }
  }

  func expectEnd(notified times: ClosedRange<Int>, of handlers: Int = 1) {
    Checker.expect(times.contains(notified.count), "\(notified.count) events were notified")
    Checker.expect(ended.count == handlers, "\(ended.count) handlers were let go of")
    source.setEventHandler { Checker.fail("it has a handler again") }
    source.add(data: 1)
  }
}

private final class Kept: Sendable {
  private let ended: Tally
  init(_ ended: Tally) { self.ended = ended }
  deinit { ended.one() }
}
