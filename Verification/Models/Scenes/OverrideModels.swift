// Room: Models/Lanes. Urgent work behind less urgent work: the boost is not lost, whichever thread
// has the lane, and is taken back, whichever thread ends its cause.

/// A serial queue whose items may check the effective priority of their thread.
private final class OverrideScene: @unchecked Sendable {
  let serial: SerialScene
  var queue: DispatchQueue { serial.queue }
  var log: Plain { serial.log }

  init(_ root: DispatchQueue = SpawningRoot()) { serial = SerialScene(root) }

  func async(_ digit: Int, _ qos: DispatchQoS, _ then: @escaping @Sendable () -> Void = {}) {
    queue.async(qos: qos) { [log] in
      log.value = log.value * 10 + digit
      then()
    }
  }

  /// Fails unless each item ran once, in one of these orders, and no thread is still boosted.
  func expect(_ logged: Int...) {
    Checker.expect(
      logged.contains(log.value), "lost, or in another order: \(log.value)")
    Checker.expect(
      queue.state.load(ordering: .relaxed).rawValue == 0, "the lane did not come to rest")
    Checker.expect(
      queue.drainRequests.load(ordering: .relaxed).rawValue << 32 == 0, "a node has not come back")
    ModelThreads.expectNoThreadRaised()
    ModelThreads.expectAllNodesBack()
  }
}

/// Gives the calling thread the class of an item that it runs.
private func become(_ band: Band) {
  let thread = currentThread()
  thread.pointee.qos = UInt32(band.rawValue)
  EffectivePriority.apply(band, on: thread)
}

private func expectEffectivePriority(_ band: Band) {
  let now = EffectivePriority.of(currentThread())
  Checker.expect(now >= band, "works at \(now), not at \(band)")
}

extension Catalogue {
  static var overrides: [EngineModel] {
    [
      EngineModel("override: a push while the lane is enqueued") { scene in
        let lane = OverrideScene()
        let isPushed = DispatchSemaphore(value: 0, spinLimit: 0)
        scene.thread("pushes") {
          lane.async(1, .utility) {
            isPushed.wait()
            expectEffectivePriority(.userInitiated)
          }
          lane.async(2, .userInitiated) { expectEffectivePriority(.userInitiated) }
          isPushed.signal()
        }
        scene.finally { lane.expect(12) }
      },
      EngineModel("override: two threads raise", reach: .bounded(preemptions: 2)) { scene in
        let lane = OverrideScene()
        let isPushed = DispatchSemaphore(value: 0, spinLimit: 0)
        lane.async(1, .background) {
          isPushed.wait()
          isPushed.wait()
          expectEffectivePriority(.userInitiated)
        }
        scene.thread("raises") {
          lane.async(2, .utility) { expectEffectivePriority(.utility) }
          isPushed.signal()
        }
        scene.thread("raises more") {
          lane.async(3, .userInitiated) { expectEffectivePriority(.userInitiated) }
          isPushed.signal()
        }
        scene.finally { lane.expect(123, 132) }
      },
      EngineModel(
        "override: a raise races with the end of its item", reach: .bounded(preemptions: 3)
      ) { scene in
        let lane = OverrideScene()
        scene.thread("pushes") { lane.async(1, .utility) }
        scene.thread("raises") { lane.async(2, .userInitiated) }
        scene.finally { lane.expect(12, 21) }
      },
      EngineModel("override: less urgent work is pushed behind", reach: .exhaustedStrong) { scene in
        let lane = OverrideScene()
        scene.thread("pushes") {
          lane.async(1, .utility)
          lane.async(2, .userInitiated)
          lane.async(3, .utility)
        }
        scene.finally { lane.expect(123) }
      },
      EngineModel("override: work is pushed while the lane is lowered", reach: .exhaustedStrong) {
        scene in
        let lane = OverrideScene()
        scene.thread("pushes") {
          lane.async(1, .userInitiated)
          lane.async(2, .utility)
          lane.async(3, .utility)
        }
        scene.finally { lane.expect(123) }
      },
      EngineModel("override: a raise races with a suspension", reach: .bounded(preemptions: 2)) {
        scene in
        let lane = OverrideScene()
        scene.thread("pushes") {
          lane.async(1, .utility)
          lane.async(2, .userInitiated)
        }
        scene.thread("suspends") {
          lane.queue.suspend()
          lane.queue.resume()
        }
        scene.finally { lane.expect(12) }
      },
      EngineModel(
        "override: a raise while the lane moves to another root", reach: .bounded(preemptions: 2)
      ) {
        scene in
        // A root lives until the verdict, as the engine's roots live for ever.
        let root = SpawningRoot()
        let lane = OverrideScene(root)
        let other = SpawningRoot()
        scene.thread("moves") {
          lane.async(1, .utility)
          lane.queue.setTarget(queue: other)
        }
        scene.thread("raises") { lane.async(2, .userInitiated) }
        scene.finally {
          withExtendedLifetime(root) {}
          Checker.expect(
            lane.queue.drainRequests.load(ordering: .relaxed).rawValue << 32 == 0,
            "a node has not come back")
          Checker.expect(lane.log.value == 12 || lane.log.value == 21, "lost: \(lane.log.value)")
          ModelThreads.expectNoThreadRaised()
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel("override: through a target", reach: .bounded(preemptions: 3)) { scene in
        let lane = OverrideScene()
        let upper = DispatchQueue(label: "upper", target: lane.queue)
        let log = lane.log
        scene.thread("below") { lane.async(1, .utility) }
        scene.thread("above") {
          upper.async(qos: .userInitiated) { log.value = log.value * 10 + 2 }
        }
        scene.finally { lane.expect(12, 21) }
      },
      EngineModel(
        "override: the last reference is released during the raise", reach: .exhaustedStrong
      ) {
        scene in
        let root = SpawningRoot()
        let done = Tally()
        scene.thread("pushes") {
          let queue = DispatchQueue(label: "dies", target: root)
          queue.async(qos: .utility) { done.one() }
          queue.async(qos: .userInitiated) { done.one() }
        }
        scene.finally {
          Checker.expect(done.count == 2, "an item was lost")
          ModelThreads.expectNoThreadRaised()
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel("override: a waiter raises the lane's owner", reach: .exhaustedStrong) {
        scene in
        let lane = OverrideScene()
        scene.thread("holds") {
          become(.background)
          lane.serial.sync(1)
          Checker.expect(EffectivePriority.of(currentThread()) == .background, "was left raised")
        }
        scene.thread("waits") {
          become(.userInitiated)
          lane.serial.sync(2)
        }
        scene.finally { lane.expect(12, 21) }
      },
      EngineModel(
        "override: a waiter raises queued work", reach: .bounded(preemptions: 2)
      ) { scene in
        let lane = OverrideScene()
        scene.thread("pushes") { lane.async(1, .background) }
        scene.thread("waits") {
          become(.userInitiated)
          lane.serial.sync(2)
        }
        scene.finally { lane.expect(12, 21) }
      },
      EngineModel("override: a push after a hand-over") { scene in
        let root = KeepingRoot()
        let queue = DispatchQueue(label: "serial", target: root)
        // In line before the scene begins; owner of the lane until the verdict.
        let waiter = ModelThreads.context(ModelThreads.count - 1)
        let node = NodeCache.take(currentThread())
        node.context = UnsafeMutableRawPointer(waiter)
        node.traits = WorkTraits(qos: PackedQoS(band: .default), barrier: true).union(.waiter)
        Parker.prepare(waiter)
        queue.submit(node, from: currentThread())
        scene.thread("hands over") {
          // Its class is the same before, during and after the drain. So it applies no priority at
          // the end, and only the owner's name keeps a late raiser away from it.
          become(.default)
          root.runAll()
        }
        scene.thread("pushes") { queue.async(qos: .userInitiated) {} }
        scene.finally {
          ModelThreads.expectNoThreadRaised()
          queue.leaveSlowly(waiter, barrier: false)
          root.runAll()
          ModelThreads.expectAllNodesBack()
        }
      },
      EngineModel("override: a chain of owners", reach: .bounded(preemptions: 3)) { scene in
        let root = SpawningRoot()
        let near = DispatchQueue(label: "near", target: root)
        let far = DispatchQueue(label: "far", target: root)
        scene.thread("far") {
          become(.background)
          far.sync {}
          Checker.expect(EffectivePriority.of(currentThread()) == .background, "was left raised")
        }
        scene.thread("near") {
          become(.background)
          near.sync { far.sync {} }
          Checker.expect(EffectivePriority.of(currentThread()) == .background, "was left raised")
        }
        scene.thread("waits") {
          become(.userInitiated)
          near.sync {}
        }
        scene.finally { ModelThreads.expectNoThreadRaised() }
      },
      EngineModel("override: a wait for an item times out", reach: .exhaustedStrong) {
        $0.timeOuts = 1
      } _: { scene in
        let item = DispatchWorkItem {}
        scene.thread("performs") {
          become(.background)
          item.perform()
          Checker.expect(EffectivePriority.of(currentThread()) == .background, "was left raised")
        }
        scene.thread("waits") {
          become(.userInitiated)
          _ = item.wait(limit: .at(.monotonic(nanoseconds: soon)))
        }
        scene.finally { ModelThreads.expectNoThreadRaised() }
      },
    ]
  }

  static var overrideMutants: [Mutant] {
    [
      Mutant(
        "a push does not record its urgency", in: "Lane+Push.swift",
        at: "let (won, now) = state.weakCompareExchange", .clears(bits: LaneState.urgencyMask),
        foundBy: "override: a push while the lane is enqueued"),
      Mutant(
        "no drain request is sent", in: "Lane+Push.swift", at: "drainRequests.change(",
        .clears(bits: DrainRequests.requested),
        foundBy: "override: a raise races with the end of its item"
      ),
      Mutant(
        "two nodes drain a lane", in: "Lane+Drain.swift", at: "drainRequests.change(",
        .sets(bits: DrainRequests.requested),
        foundBy: "override: a push while the lane is enqueued"),
      Mutant(
        "a thread is not raised", in: "EffectivePriority.swift",
        at: "shared.effectivePriority.store",
        after: "guard of(thread) < band", .skips,
        foundBy: "override: a push while the lane is enqueued"),
      Mutant(
        "a raise is not reverted", in: "EffectivePriority.swift",
        at: "shared.effectivePriority.store",
        after: "static func reapply", .skips, foundBy: "override: a waiter raises the lane's owner"),
      Mutant(
        "lowering the lane overwrites a push", in: "Lane+Override.swift",
        at: "let (won, now) = state.weakCompareExchange",
        after: "if next == seen && !leaves { break }",
        .isBlind, foundBy: "override: work is pushed while the lane is lowered"),
      Mutant(
        "a released lane stays urgent", in: "Lane+Drain.swift",
        at: "let (won, now) = state.weakCompareExchange", after: "if next.isHeld && inside",
        .sets(bits: LaneState.field(.background)),
        foundBy: "override: a raise races with the end of its item"),
      Mutant(
        "a hand-over does not release the owner's name", in: "Lane+Drain.swift",
        at: "state.change(.releasing", after: "func handOver", .dropsRelease,
        foundBy: "override: a push after a hand-over", isWeak: true),
      Mutant(
        "a thread that hands its lane over stays its owner", in: "Lane+Drain.swift",
        at: "owner.store(0", after: "func handOver", .skips,
        foundBy: "override: a push after a hand-over"),
    ]
  }
}
