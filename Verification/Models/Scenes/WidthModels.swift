// Room: Models/Lanes. The width of a concurrent queue: with a width of one, items that write plain
// memory never overlap.

extension Catalogue {
  private typealias Narrowed = @Sendable (Scene) -> Void
  private typealias Step = @Sendable (ConcurrentScene) -> Void

  /// The queue gets a width of one while an item runs, before another item and `last`.
  private static func atWork(_ last: @escaping Step) -> Narrowed {
    { scene in
      let concurrent = ConcurrentScene(SpawningRoot())
      scene.thread("submits") {
        concurrent.asyncRead()
        concurrent.queue.setWidth(1)
        concurrent.asyncUnguardedWrite()
        last(concurrent)
      }
      scene.finally { concurrent.expect() }
    }
  }

  /// A queue with an item gets a width of one and is activated, while another thread runs `comes`.
  private static func activated(_ comes: @escaping Step) -> Narrowed {
    { scene in
      let concurrent = ConcurrentScene(SpawningRoot(), attributes: .initiallyInactive)
      scene.thread("activates") {
        concurrent.asyncUnguardedWrite()
        concurrent.queue.setWidth(1)
        concurrent.queue.activate()
      }
      scene.thread("comes") { comes(concurrent) }
      scene.finally { concurrent.expect() }
    }
  }

  static var widths: [EngineModel] {
    [
      EngineModel(
        "width: set to one while an item runs, then two items", reach: .bounded(preemptions: 3),
        atWork { $0.asyncUnguardedWrite() }),
      EngineModel(
        "width: set to one while an item runs, then an item and a sync()",
        reach: .bounded(preemptions: 3), atWork { $0.syncUnguardedWrite() }),
      EngineModel(
        "width: of one from activation", reach: .exhaustedStrong,
        activated { $0.asyncUnguardedWrite() }),
      EngineModel(
        "width: of one from activation, with a sync()", reach: .bounded(preemptions: 3),
        activated { $0.syncUnguardedWrite() }),
      EngineModel("width: a loop takes permits beside an item and a barrier") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        concurrent.queue.setWidth(2)
        scene.thread("loops") { concurrent.syncLoop(helpers: 2) }
        scene.thread("submits") {
          concurrent.asyncRead()
          concurrent.asyncWrite()
        }
        scene.finally {
          concurrent.expect()
          Checker.expect(
            concurrent.queue.state.load(ordering: .relaxed).rawValue == 0, "a permit is left")
        }
      },
      EngineModel(
        "width: a full queue admits two when one has left",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("submits") {
          for _ in 0..<LaneState.maxAdmitted + 1 { concurrent.asyncRead() }
        }
        scene.finally {
          concurrent.expect()
          Checker.expect(
            concurrent.queue.state.load(ordering: .relaxed).rawValue == 0, "a permit is left")
        }
      },
      EngineModel("width: items of a full queue read it", reach: .bounded(preemptions: 2)) {
        scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("submits") {
          for _ in 0..<LaneState.defaultWidth + 1 { concurrent.asyncReadInside() }
        }
        scene.finally {
          concurrent.expect()
          Checker.expect(
            concurrent.queue.state.load(ordering: .relaxed).rawValue == 0, "a permit is left")
        }
      },
      EngineModel("width: of one, from two threads") { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        concurrent.queue.setWidth(1)
        scene.thread("first") { concurrent.asyncUnguardedWrite() }
        scene.thread("second") { concurrent.asyncUnguardedWrite() }
        scene.finally { concurrent.expect() }
      },
    ]
  }

  static var widthMutants: [Mutant] {
    [
      Mutant(
        "a push uses a stale width", in: "Lane+Push.swift",
        at: "var seen = state.load(ordering: .acquiring)", .dropsAcquire,
        foundBy: "width: of one from activation", isWeak: true),
      Mutant(
        "an item is admitted without acquiring from the previous one", in: "Lane+Admit.swift",
        at: "state.transition(.acquiring)", after: "func countRunning", .dropsAcquire,
        foundBy: "width: set to one while an item runs, then two items"),
      Mutant(
        "permits for a loop are taken although the lane has changed", in: "Lane+Width.swift",
        at: "state.transition(.acquiring)", .isBlind,
        foundBy: "width: a loop takes permits beside an item and a barrier"),
    ]
  }
}
