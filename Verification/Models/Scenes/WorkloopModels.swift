// Room: Models/Lanes. A workloop: each item runs once and alone, and at each choice the owner takes
// the most urgent item that was pushed before.

/// A workloop whose items append digits to a log.
private final class WorkloopScene: @unchecked Sendable {
  let workloop: DispatchWorkloop
  let log = Plain()

  init(isInactive: Bool = false) {
    workloop = DispatchWorkloop(
      workloop: "workloop", isInactive: isInactive, target: SpawningRoot())
  }

  func async(_ digit: Int, _ qos: DispatchQoS, _ then: @escaping @Sendable () -> Void = {}) {
    workloop.async(qos: qos) { [log] in
      log.value = log.value * 10 + digit
      then()
    }
  }

  /// Fails unless each item ran once, in one of these orders, and the lane is at rest.
  func expect(_ logged: Int...) {
    Checker.expect(logged.contains(log.value), "lost, or in another order: \(log.value)")
    Checker.expect(
      workloop.state.load(ordering: .relaxed).rawValue == 0, "the lane did not come to rest")
    Checker.expect(
      workloop.drainRequests.load(ordering: .relaxed).rawValue << 32 == 0,
      "a node has not come back")
    ModelThreads.expectNoThreadRaised()
    ModelThreads.expectAllNodesBack()
  }
}

extension Catalogue {
  static var workloops: [EngineModel] {
    [
      EngineModel("workloop: an item submits three of several classes") { scene in
        let loop = WorkloopScene()
        scene.thread("pushes") {
          loop.async(1, .utility) {
            loop.async(4, .background)
            loop.async(2, .userInitiated)
            loop.async(3, .utility)
          }
        }
        scene.finally { loop.expect(1234) }
      },
      EngineModel("workloop: urgent work comes after the list was taken") { scene in
        let loop = WorkloopScene()
        scene.thread("pushes") {
          loop.async(1, .utility) {
            loop.async(2, .utility) { loop.async(3, .userInitiated) }
            loop.async(4, .background)
          }
        }
        scene.finally { loop.expect(1234) }
      },
      EngineModel(
        "workloop: urgent work races with the choice", reach: .bounded(preemptions: 2)
      ) { scene in
        let loop = WorkloopScene()
        let isPushed = DispatchSemaphore(value: 0, spinLimit: 0)
        scene.thread("pushes") {
          loop.async(1, .background) { isPushed.wait() }
          loop.async(2, .background)
          isPushed.signal()
        }
        scene.thread("pushes urgent work") { loop.async(3, .userInitiated) }
        scene.finally { loop.expect(123, 132, 312) }
      },
      EngineModel("workloop: a sync waits in line", reach: .bounded(preemptions: 2)) { scene in
        let loop = WorkloopScene()
        scene.thread("pushes") {
          loop.async(1, .background)
          loop.async(2, .userInitiated)
        }
        scene.thread("enters") {
          loop.workloop.sync { loop.log.value = loop.log.value * 10 + 3 }
        }
        scene.finally { loop.expect(123, 132, 312, 213, 231, 321) }
      },
      EngineModel("workloop: activated with a list", reach: .bounded(preemptions: 2)) { scene in
        let loop = WorkloopScene(isInactive: true)
        scene.thread("activates") {
          loop.async(2, .background)
          loop.async(1, .userInitiated)
          loop.workloop.activate()
        }
        scene.thread("suspends") {
          loop.workloop.suspend()
          loop.workloop.resume()
        }
        scene.finally { loop.expect(12) }
      },
      EngineModel("workloop: urgent work comes during a suspension") { scene in
        let loop = WorkloopScene(isInactive: true)
        let isPushed = DispatchSemaphore(value: 0, spinLimit: 0)
        scene.thread("activates") {
          loop.async(1, .utility) {
            loop.workloop.suspend()
            loop.async(3, .userInitiated)
            isPushed.signal()
          }
          loop.async(2, .utility)
          loop.workloop.activate()
        }
        // The owner may look while the suspension holds, and give up when it has ended.
        scene.thread("resumes") {
          isPushed.wait()
          loop.workloop.resume()
        }
        scene.finally { loop.expect(132) }
      },
      EngineModel("workloop: a queue that targets it", reach: .bounded(preemptions: 2)) { scene in
        let loop = WorkloopScene()
        let queue = DispatchQueue(label: "above", target: loop.workloop)
        let log = loop.log
        scene.thread("pushes") {
          queue.async(qos: .utility) {
            log.value = log.value * 10 + 1
            queue.async(qos: .utility) { log.value = log.value * 10 + 3 }
            loop.async(2, .userInitiated)
          }
        }
        scene.finally {
          withExtendedLifetime(queue) {}
          loop.expect(123)
        }
      },
    ]
  }

  static var workloopMutants: [Mutant] {
    [
      Mutant(
        "a workloop gives all items one class", in: "Lane.swift",
        at: "givenQoS.load(ordering: .relaxed)", .returns(UInt64(Band.default.rawValue)),
        foundBy: "workloop: urgent work comes after the list was taken")
    ]
  }
}
