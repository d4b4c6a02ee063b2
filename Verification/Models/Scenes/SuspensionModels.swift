// Room: Models/Lanes. suspend(), resume(), activate(): no item starts while the queue is suspended,
// and none is lost afterwards.

extension Catalogue {
  static var suspensions: [EngineModel] {
    [
      EngineModel("suspend: no later item starts before resume") { scene in
        let serial = SerialScene(SpawningRoot())
        let isResumed = Tally()
        func item(_ digit: Int) {
          serial.queue.async {
            Checker.expect(isResumed.count == 1, "an item ran on a suspended queue")
            serial.log.value = serial.log.value * 10 + digit
          }
        }
        serial.queue.suspend()
        item(1)
        scene.thread("pushes") { item(2) }
        scene.thread("resumes") {
          isResumed.one()
          serial.queue.resume()
        }
        scene.finally {
          Checker.expect(serial.log.value == 12, "lost or out of order: \(serial.log.value)")
          serial.expect()
        }
      },
      EngineModel("suspend: an item suspends its queue, another thread resumes it") { scene in
        let serial = SerialScene(SpawningRoot())
        let log = serial.log
        let isSuspended = DispatchSemaphore(value: 0, spinLimit: 0)
        let isResumed = Tally()
        scene.thread("pushes") {
          serial.queue.async {
            log.value = 1
            serial.queue.suspend()
            isSuspended.signal()
          }
          serial.queue.async {
            Checker.expect(isResumed.count == 1, "an item ran on a suspended queue")
            log.value = log.value * 10 + 2
          }
        }
        scene.thread("resumes") {
          isSuspended.wait()
          isResumed.one()
          serial.queue.resume()
        }
        scene.finally {
          Checker.expect(log.value == 12, "lost or out of order: \(log.value)")
          serial.expect()
        }
      },
      EngineModel("suspend: later items wait, whichever thread drains") { scene in
        let serial = SerialScene(SpawningRoot())
        let log = serial.log
        let isResumed = Tally()
        scene.thread("pushes") { serial.queue.async { log.value = log.value * 10 + 1 } }
        scene.thread("suspends") {
          serial.queue.suspend()
          serial.queue.async {
            Checker.expect(isResumed.count == 1, "an item ran on a suspended queue")
            log.value = log.value * 10 + 2
          }
          isResumed.one()
          serial.queue.resume()
        }
        scene.finally {
          Checker.expect(log.value == 12 || log.value == 21, "an item was lost: \(log.value)")
          serial.expect()
        }
      },
      EngineModel(
        "suspend: later items wait, also on a concurrent queue", reach: .exhaustedStrong
      ) { scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        let isResumed = Tally()
        scene.thread("pushes") { concurrent.asyncWrite() }
        scene.thread("suspends") {
          concurrent.queue.suspend()
          concurrent.queue.async {
            Checker.expect(isResumed.count == 1, "an item ran on a suspended queue")
          }
          isResumed.one()
          concurrent.queue.resume()
        }
        scene.finally { concurrent.expect() }
      },
      EngineModel("suspend: suspend and resume race with a push") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("suspends") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.thread("pushes") { serial.async(1) }
        scene.finally { serial.expect() }
      },
      EngineModel("suspend: two threads suspend and resume", reach: .exhaustedStrong) { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("pushes") {
          serial.queue.suspend()
          serial.async(1)
          serial.queue.resume()
        }
        scene.thread("suspends") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.finally { serial.expect() }
      },
      EngineModel(
        "suspend: two threads suspend and resume, one pushes", reach: .bounded(preemptions: 2)
      ) { scene in
        let serial = SerialScene(SpawningRoot())
        for _ in 0..<2 {
          scene.thread {
            serial.queue.suspend()
            serial.queue.resume()
          }
        }
        scene.thread("pushes") { serial.async(1) }
        scene.finally { serial.expect() }
      },
      EngineModel("suspend: the count moves from the word to the field and back") { scene in
        let serial = SerialScene(SpawningRoot())
        let isResumed = Tally()
        serial.queue.suspend()
        serial.queue.async {
          Checker.expect(isResumed.count == 1, "an item ran on a suspended queue")
          serial.log.value = 1
        }
        scene.thread("suspends once more") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.thread("resumes") {
          isResumed.one()
          serial.queue.resume()
        }
        scene.finally {
          Checker.expect(serial.log.value == 1, "the item was lost")
          serial.expectNotSuspended()
          serial.expect()
        }
      },
      EngineModel(
        "suspend: two threads suspend and resume a counted queue",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let serial = SerialScene(SpawningRoot())
        let isResumed = Tally()
        for _ in 0..<2 { serial.queue.suspend() }
        serial.queue.async {
          Checker.expect(isResumed.count == 1, "an item ran on a suspended queue")
          serial.log.value = 1
        }
        scene.thread("suspends once more") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.thread("resumes") {
          serial.queue.resume()
          isResumed.one()
          serial.queue.resume()
        }
        scene.finally {
          Checker.expect(serial.log.value == 1, "the item was lost")
          serial.expectNotSuspended()
          serial.expect()
        }
      },
      EngineModel("suspend: the item sees the writes of both resuming threads") { scene in
        let serial = SerialScene(SpawningRoot())
        let written = [Plain(), Plain()]
        for _ in 0..<2 { serial.queue.suspend() }
        serial.queue.async {
          for plain in written { Checker.expect(plain.value == 1, "it ran too early") }
        }
        for plain in written {
          scene.thread("resumes") {
            plain.value = 1
            serial.queue.resume()
          }
        }
        scene.finally { serial.expect() }
      },
      EngineModel(
        "suspend: no item follows one that saw a second suspend() end",
        reach: .bounded(preemptions: 3)
      ) { scene in
        let serial = SerialScene(SpawningRoot())
        let (isSuspended, isResumed, sawIt) = (Number(), Tally(), Tally())
        serial.queue.suspend()
        serial.queue.async {
          if isSuspended.word.load(ordering: .acquiring) == 1 { sawIt.one() }
        }
        serial.queue.async {
          let isLate = sawIt.count == 1 && isResumed.count == 0
          Checker.expect(!isLate, "an item ran on a suspended queue")
        }
        serial.queue.resume()
        scene.thread("suspends first") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.thread("suspends too") {
          serial.queue.suspend()
          isSuspended.word.store(1, ordering: .releasing)
          isResumed.one()
          serial.queue.resume()
        }
        scene.finally { serial.expect() }
      },
      EngineModel("suspend: the item that resume() starts releases the queue") { scene in
        resumedByNonOwner(scene, times: 1)
      },
      EngineModel("suspend: the item that two resume() calls start releases the queue") { scene in
        resumedByNonOwner(scene, times: 2)
      },
      EngineModel("suspend: suspension races with a sync()") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("suspends") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.thread("enters") { serial.sync(1) }
        scene.finally { serial.expect() }
      },
      EngineModel(
        "suspend: a concurrent queue with a reader and a barrier", reach: .exhaustedStrong
      ) {
        scene in
        let concurrent = ConcurrentScene(SpawningRoot())
        scene.thread("suspends") {
          concurrent.queue.suspend()
          concurrent.queue.resume()
        }
        scene.thread("submits") {
          concurrent.asyncRead()
          concurrent.asyncWrite()
        }
        scene.finally { concurrent.expect() }
      },
      EngineModel("activate: items submitted before activation run once") { scene in
        let serial = SerialScene(SpawningRoot(), attributes: .initiallyInactive)
        scene.thread("pushes") { serial.async(1) }
        scene.thread("activates") { serial.queue.activate() }
        scene.thread("activates too") { serial.queue.activate() }
        scene.finally { serial.expect() }
      },
      EngineModel("activate: activation races with a suspension", reach: .exhaustedStrong) {
        scene in
        let serial = SerialScene(SpawningRoot(), attributes: .initiallyInactive)
        serial.async(1)
        scene.thread("activates") { serial.queue.activate() }
        scene.thread("suspends") {
          serial.queue.suspend()
          serial.queue.resume()
        }
        scene.finally { serial.expect() }
      },
      EngineModel("activate: a sync() waits for it") { scene in
        let serial = SerialScene(SpawningRoot(), attributes: .initiallyInactive)
        scene.thread("enters") { serial.sync(1) }
        scene.thread("activates") { serial.queue.activate() }
        scene.finally { serial.expect() }
      },
    ]
  }

  static var suspensionMutants: [Mutant] {
    let exchange = "let (won, now) = state.weakCompareExchange"
    let resumeFirst = "func resumeFirst()"
    let exchangeOnce = "let (won, _) = state.weakCompareExchange"
    let resumeIdle = "func resumeIdle()"
    let changeSuspension = "func changeSuspension("
    let exchangeCount = "let (won, now) = suspension.weakCompareExchange"
    let counted = "suspend: two threads suspend and resume a counted queue"
    return [
      Mutant(
        "a drainer is not notified of a suspension", in: "Lane+Suspend.swift",
        at: "changeEpoch.wrappingAdd", .skips,
        foundBy: "suspend: an item suspends its queue, another thread resumes it"),
      Mutant(
        "the resuming thread does not take the lane", in: "Lane+Suspend.swift",
        at: exchange, after: resumeFirst, .clears(bits: LaneState.locked),
        foundBy: "suspend: no later item starts before resume"),
      Mutant(
        "the flag remains set after the only resume()", in: "Lane+Suspend.swift",
        at: exchange, after: resumeFirst, .sets(bits: LaneState.suspended),
        foundBy: "suspend: no later item starts before resume"),
      Mutant(
        "the activating thread does not take the lane", in: "Lane+Suspend.swift",
        at: exchange, after: changeSuspension, .clears(bits: LaneState.locked),
        foundBy: "activate: activation races with a suspension"),
      Mutant(
        "the flag remains set when the count is zero", in: "Lane+Suspend.swift",
        at: exchange, after: changeSuspension, .sets(bits: LaneState.suspended),
        foundBy: "activate: items submitted before activation run once"),
      Mutant(
        "a suspension is not in the word", in: "Lane+Suspend.swift",
        at: "state.transition(.releasing", after: "func suspendFirst()",
        .clears(bits: LaneState.suspended),
        foundBy: "suspend: an item suspends its queue, another thread resumes it"),
      Mutant(
        "a second suspension is not in the word", in: "Lane+Suspend.swift",
        at: exchange, after: "func suspendCounted()", .clears(bits: LaneState.counted),
        foundBy: "suspend: the count moves from the word to the field and back"),
      Mutant(
        "a second suspension overwrites what was pushed, or a resume()", in: "Lane+Suspend.swift",
        at: exchange, after: "func suspendCounted()", .isBlind,
        foundBy: "suspend: the count moves from the word to the field and back"),
      Mutant(
        "the flag of the count remains set when nothing is counted", in: "Lane+Suspend.swift",
        at: exchange, after: changeSuspension, .sets(bits: LaneState.counted),
        foundBy: "suspend: the count moves from the word to the field and back"),
      Mutant(
        "a second suspension is not counted", in: "Lane+Suspend.swift",
        at: "suspension.store(", .skips,
        foundBy: "suspend: the count moves from the word to the field and back"),
      Mutant(
        "a third suspension overwrites a resume()", in: "Lane+Suspend.swift",
        at: exchangeCount, after: "func suspendMore()", .isBlind, foundBy: counted),
      Mutant(
        "a resume() of several overwrites a suspension", in: "Lane+Suspend.swift",
        at: exchangeCount, after: "func resumePartly()", .isBlind, foundBy: counted),
      Mutant(
        "the last resume() overwrites a suspension", in: "Lane+Suspend.swift",
        at: exchangeCount, after: changeSuspension, .isBlind, foundBy: counted),
      Mutant(
        "a resume() of several does not release", in: "Lane+Suspend.swift",
        at: exchangeCount, after: "func resumePartly()", .dropsRelease,
        foundBy: "suspend: the item sees the writes of both resuming threads", isWeak: true),
      Mutant(
        "the last resume() of several does not acquire", in: "Lane+Suspend.swift",
        at: exchangeCount, after: changeSuspension, .dropsAcquire,
        foundBy: "suspend: the item sees the writes of both resuming threads", isWeak: true),
      Mutant(
        "a drainer that was about to stop continues without acquiring from the resume",
        in: "Lane+Drain.swift", at: "var seen = state.load(ordering: .acquiring)",
        .dropsAcquire,
        foundBy: "suspend: later items wait, whichever thread drains", isWeak: true),
      Mutant(
        "a resume overwrites a push", in: "Lane+Suspend.swift",
        at: exchange, after: resumeFirst, .isBlind,
        foundBy: "suspend: no later item starts before resume"),
      Mutant(
        "a resume of an idle queue overwrites a push", in: "Lane+Suspend.swift",
        at: exchangeOnce, after: resumeIdle, .isBlind,
        foundBy: "suspend: suspend and resume race with a push"),
      Mutant(
        "the flag remains set after the resume of an idle queue", in: "Lane+Suspend.swift",
        at: exchangeOnce, after: resumeIdle, .sets(bits: LaneState.suspended),
        foundBy: "suspend: suspend and resume race with a push"),
      Mutant(
        "a suspension overwrites a push", in: "Lane+Suspend.swift",
        at: "state.transition(.releasing", after: "func suspendFirst()", .isBlind,
        foundBy: "suspend: suspend and resume race with a push"),
      Mutant(
        "a resume() does not release", in: "Lane+Suspend.swift",
        at: exchange, after: resumeFirst, .dropsRelease,
        foundBy: "suspend: later items wait, whichever thread drains", isWeak: true),
    ]
  }
}

extension SerialScene {
  /// Fails unless the lane's words are those of a lane that nothing suspends.
  fileprivate func expectNotSuspended() {
    let flags = LaneState.suspended | LaneState.counted
    let word = queue.state.load(ordering: .relaxed).rawValue
    Checker.expect(word & flags == 0, "a flag of a suspension stays")
    Checker.expect(!queue.suspension.load(ordering: .relaxed).isBlocking, "a count stays")
  }
}

/// Threads without a reference resume a queue whose only reference its item releases.
private func resumedByNonOwner(_ scene: Scene, times: Int) {
  let handle = Unmanaged.passRetained(
    DispatchQueue(label: "resumed", attributes: [], target: SpawningRoot()))
  let written = (0..<times).map { _ in Plain() }
  handle._withUnsafeGuaranteedRef { queue in
    for _ in 0..<times { queue.suspend() }
    queue.async {
      for plain in written { Checker.expect(plain.value == 1, "it ran on a suspended queue") }
      handle.release()
    }
  }
  for plain in written {
    scene.thread("resumes") {
      plain.value = 1
      handle._withUnsafeGuaranteedRef { $0.resume() }
    }
  }
  scene.finally { ModelThreads.expectAllNodesBack() }
}
