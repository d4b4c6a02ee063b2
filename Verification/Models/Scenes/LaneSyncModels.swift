// Room: Models/Lanes. sync(): threads enter an idle lane themselves, barge, sleep, queue, and
// receive the lane by hand-off.

extension Catalogue {
  static var laneSyncs: [EngineModel] {
    [
      EngineModel("sync: two threads enter") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") { serial.sync(1) }
        scene.thread("second") { serial.sync(2) }
        scene.finally { serial.expect() }
      },
      EngineModel("sync: three threads enter", reach: .exhaustedStrong) { scene in
        let serial = SerialScene(SpawningRoot())
        for digit in 1...3 { scene.thread { serial.sync(digit) } }
        scene.finally { serial.expect() }
      },
      EngineModel("sync: one thread enters twice, another once") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") {
          serial.sync(1)
          serial.sync(2)
        }
        scene.thread("second") { serial.sync(3) }
        scene.finally { serial.expect(ordered: [(1, 2)]) }
      },
      EngineModel("sync: one thread enters while another pushes") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("enters") { serial.sync(1) }
        scene.thread("pushes") { serial.async(2) }
        scene.finally { serial.expect() }
      },
      EngineModel(
        "sync: it runs after the thread's earlier pushes", reach: .exhaustedStrong
      ) { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") {
          serial.async(1)
          serial.sync(2)
        }
        scene.thread("second") { serial.async(3) }
        scene.finally { serial.expect(ordered: [(1, 2)]) }
      },
      EngineModel("sync: two threads enter while one pushes", reach: .bounded(preemptions: 3)) {
        scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") { serial.sync(1) }
        scene.thread("second") { serial.sync(2) }
        scene.thread("pushes") { serial.async(3) }
        scene.finally { serial.expect() }
      },
      EngineModel("sync: wake-ups and weak exchanges fail for no reason") {
        $0.spuriousWakes = 1
        $0.spuriousFailures = 1
      } _: { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") { serial.sync(1) }
        scene.thread("second") { serial.sync(2) }
        scene.finally { serial.expect() }
      },
      EngineModel("sync: a long wait searches for a deadlock cycle and finds none") {
        $0.timeOuts = 1
        $0.timePasses = true
      } _: { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") { serial.sync(1) }
        scene.thread("second") { serial.sync(2) }
        scene.finally { serial.expect() }
      },
      EngineModel("sync: through a lane to its target", reach: .exhaustedStrong) { scene in
        let serial = SerialScene(SpawningRoot())
        let upper = DispatchQueue(label: "upper", target: serial.queue)
        let log = serial.log
        scene.thread("above") { upper.sync { log.value = log.value * 10 + 1 } }
        scene.thread("below") { serial.queue.sync { log.value = log.value * 10 + 2 } }
        scene.finally { serial.expect() }
      },
      EngineModel("sync: asyncAndWait runs on the thread of the items before it") { scene in
        let serial = SerialScene(SpawningRoot())
        let log = serial.log
        scene.thread("pushes") { serial.queue.async { log.value = log.value * 10 + 1 } }
        scene.thread("waits") {
          serial.queue.asyncAndWait { log.value = log.value * 10 + 2 }
        }
        scene.finally { serial.expect() }
      },
    ]
  }

  static var laneSyncMutants: [Mutant] {
    [
      Mutant(
        "an idle lane is entered without acquiring", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func enterIdle", .dropsAcquire,
        foundBy: "sync: two threads enter"),
      Mutant(
        "an idle lane is left without releasing", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func leave(", .dropsRelease,
        foundBy: "sync: two threads enter"),
      Mutant(
        "a target lane is entered without acquiring", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func enterAtOnce", .dropsAcquire,
        foundBy: "sync: through a lane to its target"),
      Mutant(
        "a target lane is left without releasing", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func leaveAtOnce", .dropsRelease,
        foundBy: "sync: through a lane to its target"),
      Mutant(
        "leaving a target lane overwrites a new waiter", in: "Lane+Sync.swift",
        at: "let (won, _) = state.compareExchange", after: "func leaveAtOnce", .isBlind,
        foundBy: "sync: through a lane to its target"),
      Mutant(
        "a busy lane is entered without a check", in: "Lane+Sync.swift",
        at: "let (won, now) = state.weakCompareExchange", after: "losses > 0 ? next.withSleepers",
        .dropsAcquire, foundBy: "sync: one thread enters twice, another once"),
      Mutant(
        "a lane is left on the slow path without releasing", in: "Lane+Sync.swift",
        at: "state.change(.acquiringAndReleasing", after: "func leaveExclusive",
        .dropsRelease, foundBy: "sync: two threads enter"),
      Mutant(
        "the leaving thread wakes no thread", in: "Lane+Sync.swift", at: "case .wakeOne: futexWake",
        .skips,
        foundBy: "sync: two threads enter"),
      Mutant(
        "the leaving thread wakes one of several", in: "Lane+Sync.swift",
        at: "case .wakeAll: futexWake", .skips, foundBy: "sync: two threads enter while one pushes"),
      Mutant(
        "a woken sleeper drops the flag of the others", in: "Lane+Sync.swift",
        at: "let (won, now) = state.weakCompareExchange", after: "losses > 0 ? next.withSleepers",
        .clears(bits: LaneState.sleepers), foundBy: "sync: three threads enter"),
      Mutant(
        "a queued waiter overwrites the list", in: "Lane+Sync.swift",
        at: "let (won, now) = state.weakCompareExchange", after: "node that may pass could",
        .isBlind,
        foundBy: "sync: one thread enters while another pushes"),
      // The grant to a waiter releases, too. Here the exchange of the hand-over orders the same, so
      // the mutants of the grant stand with the models "parker: one grant" and of idle workers.
    ]
  }
}
