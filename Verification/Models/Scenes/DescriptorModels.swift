// Room: Models/Descriptors. Sources that share a descriptor: no readiness is lost, and no event
// reaches a source or a file that is gone.

extension Catalogue {
  static var descriptors: [EngineModel] {
    [
      EngineModel(
        "descriptors: an event during the re-arming is delivered",
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
        "descriptors: two sources share a descriptor", reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        let readers = [stage.reader(), stage.reader()]
        readers[0].join()
        scene.thread("joins") { readers[1].join() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) { stage.expectNothingUnread() }
      },
      EngineModel(
        "descriptors: a source leaves during an event", reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader()
        reader.join()
        scene.thread("leaves") { reader.leave() }
        scene.thread("writer") { ModelKernel.becomeReady(ModelKernel.first, .readable) }
        stage.finally(scene) {
          Checker.expect(
            !ModelKernel.isWatched(ModelKernel.first), "it is registered without a listener")
          Checker.expect(!reader.isKnown, "a descriptor without listeners is not forgotten")
        }
      },
      EngineModel(
        "descriptors: a source leaves after a hang-up", reach: .bounded(preemptions: 3)
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
          Checker.expect(
            !ModelKernel.isWatched(ModelKernel.first), "it is registered without a listener")
        }
      },
      EngineModel(
        "descriptors: the next source takes over the kernel's registration",
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
        "descriptors: the last source leaves while another joins", reach: .bounded(preemptions: 2)
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
          Checker.expect(new.isKnown, "the listener is forgotten")
        }
      },
      EngineModel("descriptors: a late event finds no registration") { scene in
        let stage = DescriptorScene(scene)
        let (old, new) = (stage.reader(), stage.reader(of: ModelKernel.first + 1))
        old.join()
        ModelKernel.becomeReady(ModelKernel.first, .readable)
        scene.thread("changes") {
          old.leave()
          new.join()
        }
        stage.finally(scene) { new.listener.expectHeard(0, "a listener of another descriptor") }
      },
      EngineModel(
        "descriptors: a descriptor is closed early and its number reused",
        reach: .bounded(preemptions: 2)
      ) { scene in
        Descriptors.reuse(scene, opening: .readable)
      },
      EngineModel(
        "descriptors: the number is reused for a regular file", reach: .bounded(preemptions: 2)
      ) { scene in
        Descriptors.reuse(scene, opening: [.readable, .writable], canBePolled: false)
      },
      EngineModel(
        "descriptors: interest in the other direction is re-armed",
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
            "unread data was not reported")
        }
      },
      EngineModel(
        "descriptors: a file gets its old number again", reach: .exhaustedStrong
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
          readers[2].listener.expectHeard(1, "the present listener")
          stage.expectNothingUnread()
        }
      },
      EngineModel("descriptors: a shortage during a retry is retried again") {
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
        "descriptors: a hang-up is reported once", reach: .bounded(preemptions: 2)
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
          Checker.expect(reader.listener.heard.count <= 1, "a hang-up is reported twice")
        }
      },
      EngineModel(
        "descriptors: a source that is resumed hears of the hang-up again",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let stage = DescriptorScene(scene)
        let reader = stage.reader(answer: .hasHungUp, maxAnswers: 1)
        ModelKernel.becomeReady(ModelKernel.first, .hangUp)
        reader.join()
        scene.thread("resumes") { reader.resumeBesideHandler() }
        stage.finally(scene) { reader.listener.expectHeard(2, "the reader") }
      },
      EngineModel(
        "descriptors: a source joins again after a hang-up", reach: .bounded(preemptions: 3)
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
        "descriptors: a descriptor that is ready again is checked", reach: .bounded(preemptions: 2),
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
        "descriptors: a check races with the loss of the descriptor",
        reach: .bounded(preemptions: 2)
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
        "descriptors: a notified source is not certain while another listens",
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
        "descriptors: a descriptor that is always ready is reported repeatedly",
        reach: .bounded(preemptions: 2)
      ) { scene in
        let stage = DescriptorScene(scene)
        ModelKernel.open(ModelKernel.first, .readable, canBePolled: false)
        let reader = stage.reader(maxAnswers: 2)
        scene.thread("joins") { reader.join() }
        scene.thread("leaves") { reader.leave() }
        stage.finally(scene) {
          Checker.expect(reader.listener.heard.count <= 3, "it was notified without being re-armed")
        }
      },
      EngineModel(
        "descriptors: a refused registration is retried", reach: .bounded(preemptions: 2),
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
        "descriptors: a source is destroyed during an event", reach: .bounded(preemptions: 3)
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
    let requests = "SharedDescriptor+Requests.swift"
    let notified = "descriptors: an event during the re-arming is delivered"
    let change = ": ReadinessSet.change(set, descriptor"
    return [
      Mutant("the descriptor is not re-armed", in: requests, at: change, .skips, foundBy: notified),
      Mutant(
        "a descriptor without listeners stays registered", in: file, at: "ReadinessSet.remove(",
        after: "func leave(", .skips,
        foundBy: "descriptors: a source leaves after a hang-up"),
      Mutant(
        "a registration left by an earlier source is not taken over", in: requests,
        at: "error = ReadinessSet.change(", .skips,
        foundBy: "descriptors: the next source takes over the kernel's registration"),
      Mutant(
        "an entry is never notified", in: file, at: "let isNew = entry.word.transition(", .skips,
        foundBy: "descriptors: a source joins again after a hang-up"),
      Mutant(
        "a resume beside the handler is forgotten", in: file, at: "entry.wasResumed.store(true",
        .skips, foundBy: "descriptors: a source that is resumed hears of the hang-up again"),
      Mutant(
        "a resume after the handler is forgotten", in: file,
        at: "if entry.word.transition(to: { $0.renewed() })", .skips,
        foundBy: "descriptors: a source that is resumed hears of the hang-up again"),
      Mutant(
        "a re-armed entry has no interest", in: file,
        at: "let isAnswered = entry.word.transition(", .skips, foundBy: notified),
      Mutant(
        "a loss is overwritten by a listener's check", in: file,
        at: "entry.word.transition(to: { $0.lookedAgain", .isBlind,
        foundBy: "descriptors: a check races with the loss of the descriptor"),
      Mutant(
        "an entry stays certain while another listens", in: file,
        at: "other.word.transition(to: { $0.doubted", .skips,
        foundBy: "descriptors: a notified source is not certain while another listens"),
      Mutant(
        "a check sees nothing and does not re-arm", in: requests, at: change, .skips,
        foundBy: "descriptors: a descriptor that is ready again is checked"),
      Mutant(
        "a refused registration is not retried", in: "Poller+Shortage.swift",
        at: "isShort.store(true, ordering: .releasing)", after: "func lack(", .skips,
        foundBy: "descriptors: a refused registration is retried"),
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
        "its successor hears nothing")
      Checker.expect(!stage.events.poller.isShort.load(ordering: .relaxed), "something is lacking")
    }
  }
}
