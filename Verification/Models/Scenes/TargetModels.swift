// Room: Models/Lanes. Target queues that change while the lane works, and deadlock cycles.

extension Catalogue {
  static var targets: [EngineModel] {
    [
      EngineModel("retarget: a change of target races with a push") { scene in
        let serial = SerialScene(SpawningRoot())
        let other = SpawningRoot()
        scene.thread("retargets") { serial.queue.setTarget(queue: other) }
        scene.thread("pushes") { serial.async(1) }
        scene.finally { serial.expect() }
      },
      EngineModel("retarget: a change of target races with a sync()") { scene in
        let serial = SerialScene(SpawningRoot())
        let other = SpawningRoot()
        scene.thread("retargets") { serial.queue.setTarget(queue: other) }
        scene.thread("enters") { serial.sync(1) }
        scene.finally { serial.expect() }
      },
      EngineModel("retarget: to a lane whose items must not overlap", reach: .exhaustedStrong) {
        scene in
        let root = SpawningRoot()
        let below = SerialScene(root)
        let queue = DispatchQueue(label: "upper", target: root)
        let log = below.log
        scene.thread("retargets") {
          queue.setTarget(queue: below.queue)
          queue.async { log.value = log.value * 10 + 1 }
        }
        scene.thread("below") { below.queue.async { log.value = log.value * 10 + 2 } }
        scene.finally {
          Checker.expect(log.value == 12 || log.value == 21, "lost or torn: \(log.value)")
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel(
        "retarget: of a suspended lane, to a lane whose items must not overlap",
        reach: .exhaustedStrong
      ) { scene in
        let root = SpawningRoot()
        let below = SerialScene(root)
        let queue = DispatchQueue(label: "upper", target: root)
        let log = below.log
        scene.thread("retargets") {
          // A suspended lane is not idle, so the change is an item.
          queue.suspend()
          queue.setTarget(queue: below.queue)
          queue.async { log.value = log.value * 10 + 1 }
          queue.resume()
        }
        scene.thread("below") { below.queue.async { log.value = log.value * 10 + 2 } }
        scene.finally {
          Checker.expect(log.value == 12 || log.value == 21, "lost or torn: \(log.value)")
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel(
        "retarget: sync() through a target that has just changed", reach: .bounded(preemptions: 3)
      ) { scene in
        let root = SpawningRoot()
        let below = SerialScene(root)
        let queue = DispatchQueue(label: "upper", target: root)
        let log = below.log
        queue.setTarget(queue: below.queue)
        scene.thread("above") { queue.sync { log.value = log.value * 10 + 1 } }
        scene.thread("below") { below.queue.sync { log.value = log.value * 10 + 2 } }
        scene.finally {
          Checker.expect(log.value == 12 || log.value == 21, "lost or torn: \(log.value)")
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel("retarget: an inactive lane changes at once") { scene in
        let serial = SerialScene(SpawningRoot(), attributes: .initiallyInactive)
        let other = SpawningRoot()
        scene.thread("retargets") {
          serial.queue.setTarget(queue: other)
          serial.queue.activate()
        }
        scene.thread("pushes") { serial.async(1) }
        scene.finally { serial.expect() }
      },
      EngineModel("deadlock: two threads that wait for each other are reported") {
        $0.timePasses = true
        $0.findsLeaks = false
        $0.tolerates = { $0.contains("Deadlock: 2 thread(s) wait for each other in sync()") }
      } _: { scene in
        let root = SpawningRoot()
        let first = DispatchQueue(label: "first", target: root)
        let second = DispatchQueue(label: "second", target: root)
        scene.thread("first") { first.sync { second.sync {} } }
        scene.thread("second") { second.sync { first.sync {} } }
      },
      EngineModel("deadlock: a reader and a writer that wait for each other are reported") {
        $0.timePasses = true
        $0.findsLeaks = false
        $0.tolerates = { $0.contains("Deadlock: 2 thread(s) wait for each other in sync()") }
      } _: { scene in
        let root = SpawningRoot()
        let wide = DispatchQueue(label: "wide", attributes: .concurrent, target: root)
        let narrow = DispatchQueue(label: "narrow", target: root)
        scene.thread("reads") { wide.sync { narrow.sync {} } }
        scene.thread("writes") { narrow.sync { wide.sync(flags: .barrier) {} } }
      },
      EngineModel(
        "deadlock: a reader that was just admitted closes no cycle", reach: .bounded(preemptions: 2)
      ) {
        $0.timePasses = true
        $0.timeOuts = 1
      } _: { scene in
        let root = SpawningRoot()
        let wide = DispatchQueue(label: "wide", attributes: .concurrent, target: root)
        let narrow = DispatchQueue(label: "narrow", target: root)
        let inside = Atomic32()
        scene.thread("reads") {
          wide.sync {
            wide.suspend()
            inside.word.store(1, ordering: .releasing)
            futexWake(inside.word)
            narrow.sync {}
          }
        }
        scene.thread("holds") { narrow.sync { wide.sync {} } }
        scene.thread("resumes") {
          while inside.word.load(ordering: .acquiring) == 0 {
            _ = futexWait(inside.word, while: 0)
          }
          // Queues behind the waiting holder: before it, the barrier would close a deadlock cycle.
          let isInLine = wide.state.load(ordering: .acquiring).pending != nil
          if isInLine { wide.async(flags: .barrier) {} }
          wide.resume()
        }
      },
      EngineModel("deadlock: nesting in the same order is no cycle") {
        $0.timePasses = true
        $0.timeOuts = 1
      } _: { scene in
        let root = SpawningRoot()
        let first = DispatchQueue(label: "first", target: root)
        let second = DispatchQueue(label: "second", target: root)
        for _ in 0..<2 { scene.thread { first.sync { second.sync {} } } }
      },
    ]
  }

  static var targetMutants: [Mutant] {
    [
      Mutant(
        "a drainer is not notified of a new target", in: "Lane+Suspend.swift",
        at: "changeEpoch.wrappingAdd", .skips,
        foundBy: "retarget: of a suspended lane, to a lane whose items must not overlap"),
      Mutant(
        "sync() skips the target of a lane", in: "LaneState.swift",
        at: "let (won, now) = weakCompareExchange", .clears(bits: LaneState.targeted),
        foundBy: "retarget: sync() through a target that has just changed"),
    ]
  }
}
