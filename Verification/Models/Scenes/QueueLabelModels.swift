// Room: Models/CurrentQueueLabels. One thread reads a queue's label while the queue ends.
// Invariant: no reader touches a queue that has ended.
// Protocol: a reader announces itself and then reads the frame; a dying queue has left its
// frames and then waits for readers (Pool/CurrentQueueLabels).

extension Catalogue {
  static var queueLabels: [EngineModel] {
    [
      EngineModel(
        "queue labels: a thread reads while a queue is destroyed", Places.dieWhileRead(readers: 1)),
      EngineModel(
        "queue labels: two threads read while a queue is destroyed", Places.dieWhileRead(readers: 2)
      ),
    ]
  }

  static var queueLabelMutants: [Mutant] {
    let model = "queue labels: a thread reads while a queue is destroyed"
    let one = "reader.store(UInt(bitPattern: currentThread())"
    return [
      Mutant(
        "a reader does not announce itself", in: "CurrentQueueLabels.swift", at: one, .skips,
        foundBy: model),
      Mutant(
        "a reader announces itself too late", in: "CurrentQueueLabels.swift", at: one,
        .dropsSequential,
        foundBy: model, isWeak: true),
      Mutant(
        "a reader sees a stale queue label", in: "CurrentQueueLabels.swift",
        at: "thread.shared.workingOn.load(ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: model, isWeak: true),
      Mutant(
        "a drainer enters too early", in: "Thread.swift",
        at: "$0.workingOn.store(address, ordering: .releasing)", .dropsRelease, foundBy: model,
        isWeak: true),
      Mutant(
        "a drainer leaves too late", in: "Thread.swift",
        at: "$0.workingOn.store(address, ordering: .sequentiallyConsistent)", .dropsSequential,
        foundBy: model, isWeak: true),
      Mutant(
        "a dying queue sees no reader", in: "CurrentQueueLabels.swift",
        at: "reader.load(ordering: .sequentiallyConsistent)", .dropsSequential, foundBy: model,
        isWeak: true),
    ]
  }
}

private enum Places {
  /// A queue whose end is a write, so that a read before or after its life is a data race.
  private final class Place: CurrentQueueLabel {
    @Cell private var contents = 0

    func live() { contents = 1 }

    var currentQueueLabel: String {
      Checker.expect(contents == 1, "a dead queue is read")
      return ""
    }

    func die() {
      CurrentQueueLabels.willDie()
      contents = 0
    }
  }

  static func dieWhileRead(readers: Int) -> @Sendable (Scene) -> Void {
    { scene in
      // Makes what is made at its first use, before the threads begin.
      CurrentQueueLabels.willDie()
      let place = Place()
      let drainer = ModelThreads.context(1)
      scene.thread("drainer") {
        place.live()
        drainer.enterQueueLabel(UInt(bitPattern: Unmanaged.passUnretained(place).toOpaque()))
        drainer.setCurrentQueueLabel(0)
        place.die()
      }
      for _ in 0..<readers {
        scene.thread("reader") { _ = CurrentQueueLabels.label(of: drainer) }
      }
      scene.keep(place)
    }
  }
}
