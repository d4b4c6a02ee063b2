// Room: Models/Handlers. An event handler that the lane has adopted: replaced, removed and ended
// beside events.

extension Catalogue {
  static var handlers: [EngineModel] {
    [
      EngineModel(
        "source: an adopted handler is replaced during an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let scenery = HandlerScene()
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.thread("replaces") {
          scenery.handle()
          scenery.source.add(data: 100)
        }
        scene.finally { scenery.expect(102, released: 1) }
      },
      EngineModel(
        "source: an adopted handler is replaced by itself", reach: .exhaustedStrong
      ) { scene in
        let scenery = HandlerScene(replacesItself: true)
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.finally { scenery.expect(2, released: 1) }
      },
      EngineModel(
        "source: an adopted handler is removed and another set during an event",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let scenery = HandlerScene()
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.thread("changes") {
          scenery.source.setEventHandler(handler: nil)
          scenery.handle()
        }
        scene.finally { scenery.expect(2, released: 1) }
      },
      EngineModel(
        "source: two threads replace an adopted handler", reach: .bounded(preemptions: 3)
      ) { scene in
        let scenery = HandlerScene()
        for _ in 0..<2 { scene.thread { scenery.handle() } }
        scene.finally { scenery.expect(1, released: 2) }
      },
      EngineModel(
        "source: destroyed inline with an adopted handler during an event",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let scenery = HandlerScene()
        scene.thread("adds") { scenery.source.add(data: 1) }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectReleased(1) }
      },
      EngineModel(
        "source: replacing an adopted handler races with cancellation",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let scenery = HandlerScene()
        scene.thread("replaces") { scenery.handle() }
        scene.thread("cancels") { scenery.source.cancel() }
        scene.finally { scenery.expectReleased(2) }
      },
    ]
  }

  static var handlerMutants: [Mutant] {
    let file = "DispatchSource+Handlers.swift"
    let replaced = "source: an adopted handler is replaced during an event"
    return [
      Mutant(
        "a handler that replaces an adopted one sets no flag", in: file, at: "$0.replacing()",
        .skips, foundBy: replaced),
      Mutant(
        "an adopted handler is replaced without owning the lane", in: file,
        at: "let seen = sourceState.load(", after: "func setEventHandler", .returns(0),
        foundBy: replaced),
      Mutant(
        "an adopted handler is destroyed without owning the lane", in: file,
        at: "sourceState.load(ordering: .relaxed).isAdopted", .returns(0),
        foundBy: "source: destroyed inline with an adopted handler during an event"),
      Mutant(
        "a source starts with its handler adopted", in: "DispatchSource.swift",
        at: "sourceState.transition({ $0.starting()", .sets(bits: UInt64(SourceState.adopted)),
        foundBy: "source: an event handler set during activation receives earlier events"),
      Mutant(
        "a handler that was removed stays adopted", in: file, at: "$0.adopting(",
        .sets(bits: UInt64(SourceState.adopted)),
        foundBy: "source: an adopted handler is removed and another set during an event"),
    ]
  }
}

/// An active source of user data whose lane has adopted its handler: it has had an event of 1.
private final class HandlerScene: @unchecked Sendable {
  let source: DispatchSource
  private let sum = Plain()
  private let released = Tally()

  init(replacesItself: Bool = false) {
    guard
      let made = DispatchSource.makeUserDataAddSource(queue: SpawningRoot()) as? DispatchSource
    else { Checker.fail("no source") }
    source = made
    handle(replacesItself: replacesItself)
    source.activate()
    source.add(data: 1)
  }

  func handle(replacesItself: Bool = false) {
    let released = released
    let kept = Kept { released.one() }
    let sum = sum
    source.setEventHandler { [unowned self, unowned source] in
      withExtendedLifetime(kept) { sum.value += Int(source.data) }
      if replacesItself { handle() }
    }
  }

  func expect(_ expected: Int, released count: Int) {
    Checker.expect(sum.value == expected, "\(expected) was added, \(sum.value) notified")
    expectReleased(count)
  }

  func expectReleased(_ count: Int) {
    Checker.expect(released.count == count, "\(released.count) handlers were released")
  }
}

private final class Kept: Sendable {
  private let end: @Sendable () -> Void
  init(_ end: @escaping @Sendable () -> Void) { self.end = end }
  deinit { end() }
}
