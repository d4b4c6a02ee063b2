// Room: Models/Descriptors. Sources that share a descriptor: no readiness is lost, and no event
// reaches a source or a file that is gone.

extension Catalogue {
  static var descriptors: [EngineModel] {
    [
      EngineModel(
        "descriptors: what comes while another event is answered is notified",
        reach: .exhaustedStrong
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader()
        reader.join()
        scene.thread("writer") {
          for _ in 0..<2 { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: two listen to one", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let readers = [stage.reader(), stage.reader()]
        readers[0].join()
        scene.thread("joins") { readers[1].join() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: one leaves beside an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader()
        reader.join()
        scene.thread("leaves") { reader.leave() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) {
          Checker.expect(!ModelKernel.isWatched(ModelKernel.first), "it is watched for nobody")
          Checker.expect(!reader.isKnown, "what nobody listens to is not forgotten")
        }
      },
      EngineModel(
        "descriptors: one whose other side has hung up leaves", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader(answer: .hasEnded)
        ModelKernel.becomeReady(ModelKernel.first, .hangUp)
        reader.join()
        scene.thread("leaves") {
          while reader.listener.heard.count == 0 {
            _ = futexWait(reader.hasHeard.word, while: 0)
          }
          reader.leave()
        }
        stage.finally(scene) {
          Checker.expect(!ModelKernel.isWatched(ModelKernel.first), "it is watched for nobody")
        }
      },
      EngineModel(
        "descriptors: the next one takes over what the kernel watches",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let (old, new) = (stage.reader(), stage.reader())
        old.join()
        scene.thread("changes") {
          old.leave()
          new.join()
        }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) {
          stage.expectNothingUnread()
          Checker.expect(new.isKnown, "the new listener is forgotten")
        }
      },
      EngineModel(
        "descriptors: the last leaves beside one that joins", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let (old, new) = (stage.reader(), stage.reader())
        old.join()
        scene.thread("leaves") { old.leave() }
        scene.thread("joins") {
          new.join()
          ModelKernel.becomeReady(ModelKernel.first, .readable)
        }
        stage.finally(scene) {
          stage.expectNothingUnread()
          Checker.expect(new.isKnown, "who listens is forgotten")
        }
      },
      EngineModel("descriptors: an event that is late finds nobody") { scene in
        let stage = DescriptorScene(scene)
        let (old, new) = (stage.reader(), stage.reader(of: ModelKernel.first + 1))
        old.join()
        ModelKernel.becomeReady(ModelKernel.first, .readable)
        scene.thread("changes") {
          old.leave()
          new.join()
        }
        stage.finally(scene) { new.listener.expectHeard(0, "who listens to something else") }
      },
      EngineModel(
        "descriptors: one is closed early and its number used again",
        reach: .bounded(preemptions: 2)
      ) { scene in
        Descriptors.reuse(scene, opening: .readable)
      },
      EngineModel(
        "descriptors: its number becomes that of a regular file", reach: .bounded(preemptions: 2)
      ) { scene in
        Descriptors.reuse(scene, opening: [.readable, .writable], canBePolled: false)
      },
      EngineModel(
        "descriptors: who waits for the other direction is asked for again",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let (writer, reader) = (stage.reader(maxAnswers: 0, direction: .write), stage.reader())
        writer.join()
        reader.join()
        scene.thread("writer") {
          ModelKernel.becomeReady(ModelKernel.first, .writable)
          ModelKernel.becomeReady(ModelKernel.first, .readable)
        }
        stage.finally(scene) {
          Checker.expect(
            !ModelKernel.readiness(ModelKernel.first).contains(.readable),
            "what is to be read is told to nobody")
        }
      },
      EngineModel(
        "descriptors: a file comes back to its number", reach: .exhaustedStrong
      ) { scene in
        let stage = DescriptorScene(scene)
        let readers = [stage.reader(), stage.reader(), stage.reader()]
        readers[0].join()
        scene.thread("client") {
          let file = ModelKernel.putAway(ModelKernel.first)
          readers[1].join()
          ModelKernel.bringBack(ModelKernel.first, file)
          readers[2].join()
          ModelKernel.becomeReady(ModelKernel.first, .readable)
        }
        stage.finally(scene) {
          readers[2].listener.expectHeard(1, "who listens now")
          stage.expectNothingUnread()
        }
      },
      EngineModel("descriptors: what is lacking again while it is tried is not forgotten") {
        scene in
        let stage = DescriptorScene(scene, pollers: 0)
        let poller = stage.events.poller
        let needy = Needy()
        poller.lack(needy, error: ENOMEM)
        scene.thread("tries") { poller.tryAgain(on: currentThread()) }
        scene.thread("lacks") {
          needy.lock.withLock { needy.lacks = true }
          poller.lack(needy, error: ENOMEM)
        }
        stage.finally(scene) {
          Checker.expect(
            poller.lacking.count == 1 && poller.isShort.load(ordering: .relaxed),
            "it is not tried again")
        }
      },
      EngineModel(
        "descriptors: a hang-up is told once", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader(answer: .hasEnded)
        reader.join()
        scene.thread("writer") {
          ModelKernel.becomeReady(ModelKernel.first, .hangUp)
          ModelKernel.take(ModelKernel.first, .hangUp)
          ModelKernel.becomeReady(ModelKernel.first, .hangUp)
        }
        scene.thread("another") { ModelKernel.take(ModelKernel.first, []) }
        stage.finally(scene) {
          Checker.expect(reader.listener.heard.count <= 1, "a hang-up is told twice")
        }
      },
      EngineModel(
        "descriptors: somebody comes back after a hang-up", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader(answer: .hasEnded)
        ModelKernel.becomeReady(ModelKernel.first, .hangUp)
        reader.join()
        scene.thread("writer") {
          while reader.listener.heard.count == 0 {
            _ = futexWait(reader.hasHeard.word, while: 0)
          }
          ModelKernel.take(ModelKernel.first, .hangUp)
          ModelKernel.becomeReady(ModelKernel.first, .readable)
        }
        stage.finally(scene) { reader.listener.expectHeard(2, "the reader") }
      },
      EngineModel(
        "descriptors: one that is ready again is looked at", reach: .bounded(preemptions: 2),
        adjust: Allow.time
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader(answer: .mayBeReady)
        reader.join()
        scene.thread("writer") {
          for _ in 0..<2 { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        }
        scene.thread("leaves late") {
          _ = futexWait(Atomic32().word, while: 0, until: .monotonic(nanoseconds: soon))
          Checker.expect(ModelKernel.readiness(ModelKernel.first).isEmpty, "something is unread")
          reader.leave()
        }
        stage.finally(scene) { Checker.expect(!reader.isKnown, "it is not forgotten") }
      },
      EngineModel(
        "descriptors: one that looks again beside its loss", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let old = stage.reader(answer: .mayBeReady, maxAnswers: 2)
        let new = stage.reader(maxAnswers: 2)
        old.join()
        ModelKernel.becomeReady(ModelKernel.first, .readable)
        scene.thread("client") {
          ModelKernel.close(ModelKernel.first, andOpen: .readable)
          new.join()
        }
        stage.finally(scene) {
          Checker.expect(old.entry.stage == .lost, "the loss was not noticed")
        }
      },
      EngineModel(
        "descriptors: one that is notified is not sure beside another",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let readers = [stage.reader(maxAnswers: 0), stage.reader(maxAnswers: 0)]
        readers[0].join()
        ModelKernel.becomeReady(ModelKernel.first, .readable)
        scene.thread("joins") {
          while readers[0].listener.heard.count == 0 {
            _ = futexWait(readers[0].hasHeard.word, while: 0)
          }
          readers[1].join()
        }
        stage.finally(scene) {
          for reader in readers {
            Checker.expect(
              reader.entry.notification?.isSure == false, "it is sure, or not notified")
          }
        }
      },
      EngineModel(
        "descriptors: what is always ready is told again and again", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        ModelKernel.open(ModelKernel.first, .readable, canBePolled: false)
        let reader = stage.reader(maxAnswers: 2)
        scene.thread("joins") { reader.join() }
        scene.thread("leaves") { reader.leave() }
        stage.finally(scene) {
          Checker.expect(reader.listener.heard.count <= 3, "it was told without an answer")
        }
      },
      EngineModel(
        "descriptors: one that is refused is asked for again", reach: .bounded(preemptions: 2),
        adjust: Allow.timeAndRefusal
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader()
        scene.thread("joins") { reader.join() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.events.addClock(scene)
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: one dies beside an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader()
        reader.join()
        var dying: MortalReader? = MortalReader(stage.events)
        dying?.join()
        scene.thread("lets go") {
          // Takes the lock, so that the release is ordered: see TimerModels.
          reader.look()
          dying = nil
        }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
    ]
  }

  static var descriptorMutants: [Mutant] {
    let file = "SharedDescriptor.swift"
    let notified = "descriptors: what comes while another event is answered is notified"
    let change = ": ReadinessSet.change(set, descriptor"
    return [
      Mutant("the kernel is not asked anew", in: file, at: change, .skips, foundBy: notified),
      Mutant(
        "what nobody listens to is still watched", in: file, at: "ReadinessSet.remove(",
        after: "func leave(", .skips,
        foundBy: "descriptors: one whose other side has hung up leaves"),
      Mutant(
        "what an earlier source left in the set is not taken over", in: file,
        at: "error = ReadinessSet.change(", .skips,
        foundBy: "descriptors: the next one takes over what the kernel watches"),
      Mutant(
        "an entry is never notified", in: file, at: "let isNew = entry.word.transition(", .skips,
        foundBy: "descriptors: a hang-up is told once"),
      Mutant(
        "an entry that is answered waits for nothing", in: file,
        at: "let isAnswered = entry.word.transition(", .skips, foundBy: notified),
      Mutant(
        "a loss is overwritten by a listener that looks again", in: file,
        at: "entry.word.transition(to: { $0.lookedAgain", .isBlind,
        foundBy: "descriptors: one that looks again beside its loss"),
      Mutant(
        "an entry stays sure beside another", in: file,
        at: "other.word.transition(to: { $0.doubted", .skips,
        foundBy: "descriptors: one that is notified is not sure beside another"),
      Mutant(
        "who looks sees nothing, and asks no more", in: file, at: change, .skips,
        foundBy: "descriptors: one that is ready again is looked at"),
      Mutant(
        "what was refused is not asked for again", in: "Poller+Shortage.swift",
        at: "isShort.store(true, ordering: .releasing)", after: "func lack(", .skips,
        foundBy: "descriptors: one that is refused is asked for again"),
    ]
  }
}

private enum Descriptors {
  /// Closes a descriptor that a source watches, and watches another file with the same number.
  static func reuse(_ scene: Scene, opening readiness: Readiness, canBePolled: Bool = true) {
    let stage = DescriptorScene(scene)
    let (old, new) = (stage.reader(), stage.reader(maxAnswers: 2))
    old.join()
    scene.thread("client") {
      ModelKernel.close(ModelKernel.first, andOpen: readiness, canBePolled: canBePolled)
      new.join()
    }
    scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
    stage.finally(scene) {
      Checker.expect(old.entry.stage == .lost, "the loss was not noticed")
      // The old source's handler may have read from the new file; that is the client's mistake.
      Checker.expect(
        new.listener.heard.count > 0
          || canBePolled && ModelKernel.readiness(ModelKernel.first).isEmpty,
        "who came in its place hears nothing")
      Checker.expect(!stage.events.poller.isShort.load(ordering: .relaxed), "something is lacking")
    }
  }
}
