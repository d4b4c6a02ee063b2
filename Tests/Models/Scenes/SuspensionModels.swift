// Room: Models/Lanes. suspend(), resume(), activate(): nothing starts in between, nothing is lost after.

extension Catalogue {
  static var suspensions: [EngineModel] {
    [
      EngineModel("suspend: nothing that comes later starts before resume") { scene in
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
      EngineModel("suspend: what comes after it waits, whoever drains") { scene in
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
        "suspend: what comes after it waits, also on a concurrent queue", reach: .exhaustedStrong
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
      EngineModel("suspend: suspend and resume beside a push") { scene in
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
        for _ in 0..<2 {
          scene.thread {
            serial.queue.suspend()
            serial.queue.resume()
          }
        }
        scene.thread("pushes") { serial.async(1) }
        scene.finally { serial.expect() }
      },
      EngineModel("suspend: beside a sync()") { scene in
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
      EngineModel("activate: what came before runs, once") { scene in
        let serial = SerialScene(SpawningRoot(), attributes: .initiallyInactive)
        scene.thread("pushes") { serial.async(1) }
        scene.thread("activates") { serial.queue.activate() }
        scene.thread("activates too") { serial.queue.activate() }
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
    [
      Mutant(
        "a drainer is not told of a suspension", in: "Lane+Suspend.swift",
        at: "attention.wrappingAdd", .skips,
        foundBy: "suspend: an item suspends its queue, another thread resumes it"),
      Mutant(
        "who resumes does not take the lane", in: "Lane+Suspend.swift",
        at: "let (won, now) = state.weakCompareExchange", .clears(bits: LaneState.locked),
        foundBy: "suspend: nothing that comes later starts before resume"),
      Mutant(
        "the flag stays when the count is zero", in: "Lane+Suspend.swift",
        at: "let (won, now) = state.weakCompareExchange", .sets(bits: LaneState.suspended),
        foundBy: "suspend: nothing that comes later starts before resume"),
      Mutant(
        "a suspension is not in the word", in: "LaneState.swift",
        at: "let (won, now) = weakCompareExchange", .clears(bits: LaneState.suspended),
        foundBy: "suspend: an item suspends its queue, another thread resumes it"),
      Mutant(
        "a drainer that was about to stop goes on without seeing who resumed",
        in: "Lane+Drain.swift", at: "var seen = state.load(ordering: .acquiring)",
        .dropsAcquire,
        foundBy: "suspend: what comes after it waits, whoever drains", isWeak: true),
      Mutant(
        "who resumes overwrites what was pushed", in: "Lane+Suspend.swift",
        at: "let (won, now) = state.weakCompareExchange", .isBlind,
        foundBy: "suspend: nothing that comes later starts before resume"),
    ]
  }
}
