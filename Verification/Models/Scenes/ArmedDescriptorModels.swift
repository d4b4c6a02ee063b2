// Room: Models/ArmedDescriptors. Descriptors that stay armed from event to event, and orphans: what
// stays armed in the set although the engine cannot reach it any more.

extension Catalogue {
  static var armedDescriptors: [EngineModel] {
    let (near, far) = (ModelKernel.first, ModelKernel.first + 1)
    return [
      EngineModel(
        "descriptors: one that stays armed is disarmed beside its handler", reach: .exhaustedStrong
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.readerInPlace()
        reader.isAlone = true
        reader.join()
        scene.thread("writer") {
          for _ in 0..<3 { ModelKernel.becomeReady(near, .readable) }
        }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: a source leaves while its descriptor stays armed",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.readerInPlace()
        reader.join()
        scene.thread("leaves") { reader.leave() }
        scene.thread("writer") {
          for _ in 0..<2 { ModelKernel.becomeReady(near, .readable) }
        }
        stage.finally(scene) {
          Checker.expect(!ModelKernel.isWatched(near), "it is registered without a listener")
        }
      },
      EngineModel(
        "descriptors: a source takes the number of one that stayed armed",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let (old, new) = (stage.readerInPlace(), stage.reader())
        old.join()
        scene.thread("changes") {
          for _ in 0..<2 { ModelKernel.becomeReady(near, .readable) }
          old.leave()
          new.join()
          ModelKernel.becomeReady(near, .readable)
        }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: another source joins one that stays armed", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let (first, second) = (stage.readerInPlace(), stage.reader(maxAnswers: 1))
        first.join()
        ModelKernel.becomeReady(near, .readable)
        scene.thread("joins") {
          second.join()
          ModelKernel.becomeReady(near, .readable)
        }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: an orphan keeps no thread awake", reach: .bounded(preemptions: 2)
      ) { scene in
        ArmedDescriptors.besideOrphan(scene) { other, orphan in
          other.join()
          scene.thread("client") {
            orphan()
            ModelKernel.becomeReady(far, .readable)
          }
        }
      },
      EngineModel(
        "descriptors: a source joins beside an orphan", reach: .bounded(preemptions: 2)
      ) { scene in
        ArmedDescriptors.besideOrphan(scene) { other, orphan in
          scene.thread("client") { orphan() }
          scene.thread("joins") {
            other.join()
            ModelKernel.becomeReady(far, .readable)
          }
        }
      },
    ]
  }

  static var armedDescriptorMutants: [Mutant] {
    let armed = "descriptors: one that stays armed is disarmed beside its handler"
    let orphan = "descriptors: an orphan keeps no thread awake"
    return [
      Mutant(
        "a descriptor that stays armed is not removed", in: "SharedDescriptor.swift",
        at: "ReadinessSet.remove(", after: "func leave(", .skips,
        foundBy: "descriptors: a source leaves while its descriptor stays armed"),
      Mutant(
        "a set is not replaced because of an orphan", in: "Poller+Orphans.swift",
        at: "set.store(made", .skips,
        foundBy: orphan),
      Mutant(
        "an earlier report than the answer counts", in: "SharedDescriptor+Requests.swift",
        at: "first: first.turns.load(", .returns(0), foundBy: armed),
    ]
  }
}

private enum ArmedDescriptors {
  /// Lets `act` make an orphan beside a reader of another descriptor, which must lose nothing.
  static func besideOrphan(
    _ scene: Scene, _ act: (_ other: Reader, _ orphan: @escaping () -> Void) -> Void
  ) {
    let stage = DescriptorScene(scene)
    let far = ModelKernel.first + 1
    let (early, other) = (stage.readerInPlace(maxAnswers: 2), stage.reader(of: far))
    early.join()
    act(other) { orphan(early) }
    stage.finally(scene) {
      Checker.expect(ModelKernel.readiness(far).isEmpty, "unread data was not reported")
    }
  }

  /// Closes the descriptor before its source leaves, once its handler has run, while the file is
  /// open under another number and ready.
  static func orphan(_ reader: Reader) {
    let (number, other) = (ModelKernel.first, ModelKernel.first + 5)
    ModelKernel.becomeReady(number, .readable)
    while reader.hasHeard.word.load(ordering: .relaxed) == 0 {
      _ = futexWait(reader.hasHeard.word, while: 0)
    }
    ModelKernel.duplicate(number, as: other)
    ModelKernel.close(number, andOpen: nil)
    ModelKernel.becomeReady(other, .readable)
    reader.leave()
  }
}
