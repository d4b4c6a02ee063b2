// Room: Models/Lanes. Target queues that change while the lane works.
// Invariant: each item runs once, alone and in order, on the old target or the new one, and two
// lanes with one serial target do not overlap; a cycle of targets is reported.
// Protocol: Lanes/Lane+Target, under the lock of Lanes/HierarchyLock.

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
      EngineModel("retarget: two lanes that would target each other") {
        $0.findsLeaks = false
        $0.tolerates = { $0.contains("makes a loop of target queues") }
      } _: { scene in
        let root = SpawningRoot()
        let first = DispatchQueue(label: "first", target: root)
        let second = DispatchQueue(label: "second", target: root)
        scene.thread("first") { first.setTarget(queue: second) }
        scene.thread("second") { second.setTarget(queue: first) }
        scene.finally { Checker.expect(false, "a loop of targets was not reported") }
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
        "two changes of targets do not exclude each other", in: "Lock.swift",
        at: "let (won, _) = word.compareExchange(", after: "func lockPlainly", .isBlind,
        foundBy: "retarget: two lanes that would target each other"),
      Mutant(
        "sync() skips the target of a lane", in: "LaneState.swift",
        at: "self.change(.acquiringAndReleasing", .clears(bits: LaneState.targeted),
        foundBy: "retarget: sync() through a target that has just changed"),
    ]
  }
}
