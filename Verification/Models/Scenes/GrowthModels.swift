// Room: Models/Growth. A regular file that grows while its source handles the end.
// Invariant: bytes that are written beside the handling of the end are reported, and nothing
// is reported to a source that has left.
// Protocol: Reactor/SharedDescriptor+Growth; a thread acts as Sources/Descriptor/FileGrowth.

extension Catalogue {
  static var growths: [EngineModel] {
    [
      EngineModel(
        "growth: a write beside the handling of the end is reported", reach: .exhaustedStrong
      ) { scene in
        let reader = FileReader(scene)
        scene.thread("writer") {
          ModelKernel.becomeReady(ModelKernel.first, .readable)
          reader.look()
        }
        scene.thread("joins") { reader.join() }
        reader.finally(scene) {
          Checker.expect(
            ModelKernel.readiness(ModelKernel.first).isEmpty, "the growth was not reported")
        }
      },
      EngineModel(
        "growth: of two writes none is missed", reach: .bounded(preemptions: 2)
      ) { scene in
        let reader = FileReader(scene)
        let grow = {
          ModelKernel.becomeReady(ModelKernel.first, .readable)
          reader.look()
        }
        scene.thread("writer", grow)
        scene.thread("joins and writes") {
          reader.join()
          grow()
        }
        reader.finally(scene) {
          Checker.expect(
            ModelKernel.readiness(ModelKernel.first).isEmpty, "growth was not reported")
          // The first end, and for each write its bytes and the next end.
          Checker.expect(reader.listener.heard.count <= 5, "it was notified without bytes")
        }
      },
      EngineModel(
        "growth: a source leaves beside it", reach: .bounded(preemptions: 2)
      ) { scene in
        let reader = FileReader(scene)
        scene.thread("writer") {
          ModelKernel.becomeReady(ModelKernel.first, .readable)
          reader.look()
        }
        scene.thread("joins and leaves") {
          reader.join()
          reader.leave()
        }
        reader.finally(scene) {
          Checker.expect(reader.entry.stage == .left, "it has not left")
        }
      },
    ]
  }

  static var growthMutants: [Mutant] {
    [
      Mutant(
        "a file that has grown does not notify", in: "SharedDescriptor+Growth.swift",
        at: "entry.word.transition(to: { $0.grown() })", .skips,
        foundBy: "growth: a write beside the handling of the end is reported")
    ]
  }
}

/// The source of a regular file. A thread for each notification acts as its handler.
private final class FileReader: @unchecked Sendable {
  let entry = DescriptorEntry(.read, of: ModelKernel.first, queueLabel: "")
  let listener = Listener()
  private let events: EventScene
  private let shared: SharedDescriptor

  init(_ scene: Scene) {
    events = EventScene(scene, pollers: 0)
    // Ready without bytes: at its end.
    ModelKernel.open(ModelKernel.first, canBePolled: false)
    shared = events.shared(ModelKernel.first)
    entry.listener = Unmanaged.passUnretained(listener)
    listener.onNotified = { [unowned self] in
      Checker.spawn("handler") { self.handle() }
    }
  }

  func join() { _ = shared.join(entry, on: currentThread()) }
  func leave() { shared.leave(entry) }

  /// Acts as FileGrowth, when an event of the file comes or its end was answered.
  func look() { shared.notifyPastEnd(entry, on: currentThread()) { Self.hasBytes } }

  /// Acts as DescriptorSource does in an event, with a handler that reads everything.
  private func handle() {
    guard entry.notification != nil else { return }
    if Self.hasBytes {
      ModelKernel.take(ModelKernel.first, .readable)
      shared.answer(entry, .waits, on: currentThread())
    } else {
      shared.answer(entry, .hasEnded, on: currentThread())
      look()
    }
  }

  /// Takes a step, as the system call does.
  private static var hasBytes: Bool {
    ModelKernel.take(ModelKernel.first, [])
    return ModelKernel.readiness(ModelKernel.first).contains(.readable)
  }

  func finally(_ scene: Scene, _ verdict: @escaping () -> Void) {
    scene.finally {
      verdict()
      self.leave()
      self.events.reactor.descriptors.forget(self.shared)
      self.events.end()
    }
  }
}
