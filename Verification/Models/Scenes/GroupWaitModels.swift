// Room: Models/GroupWaits. Waits and registrations beside a last leave and its claim. What was
// registered before is on its queue when a wait returns.

extension Catalogue {
  static var groupWaits: [EngineModel] {
    [
      EngineModel(
        "group: a notification is on its queue when a wait ends", GroupWaits.notifiedWhenWaitEnds),
      EngineModel(
        "group: a wait looks while the last member leaves, one notification",
        GroupWaits.notifiedBeforeLook),
      EngineModel(
        "group: a second notification is registered while the last member leaves",
        GroupWaits.secondNotification),
    ]
  }

  static var groupWaitMutants: [Mutant] {
    let notified = "group: a notification is on its queue when a wait ends"
    return [
      Mutant(
        "a wait ends before the notifications are submitted", in: "DispatchGroup.swift",
        at: "hasRegistered.load(ordering: .acquiring)", .returns(0), foundBy: notified),
      Mutant(
        "a registered notification is not announced", in: "DispatchGroup+Deliver.swift",
        at: "hasRegistered.store(true", .skips, foundBy: notified),
      Mutant(
        "a delivery does not release", in: "DispatchGroup+Deliver.swift",
        at: "if count == waiting.count { hasRegistered.store(false", .dropsRelease,
        foundBy: notified),
    ]
  }
}

private enum GroupWaits {
  /// The claimer may deliver after the waiter has seen the end of the generation.
  static func notifiedWhenWaitEnds(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = CountingRoot()
    group.enter()
    scene.thread("member") { group.leave() }
    scene.thread("waiter") {
      group.notify(queue: root) {}
      group.wait()
      root.expectSubmitted(1)
    }
    scene.finally {
      root.runAll()
      ModelThreads.expectAllNodesBack()
    }
  }

  /// The observer may register between the last leave and its claim.
  static func secondNotification(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = KeepingRoot()
    let notified = Journal()
    group.enter()
    group.notify(queue: root) { notified.add(1) }
    scene.thread("member") { group.leave() }
    scene.thread("observer") { group.notify(queue: root) { notified.add(2) } }
    scene.finally {
      root.runAll()
      Checker.expect(notified.entries == [1, 2], "notified in the order \(notified.entries)")
      ModelThreads.expectAllNodesBack()
    }
  }

  /// The waiter may look between the last leave and its claim, and a member may enter there.
  static func notifiedBeforeLook(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = CountingRoot()
    group.enter()
    group.notify(queue: root) {}
    scene.thread("member") { group.leave() }
    scene.thread("waiter") {
      if group.wait(limit: .now) == .success {
        group.enter()
        root.expectSubmitted(1)
        group.notify(queue: root) {}
        group.leave()
      }
    }
    scene.finally {
      root.runAll()
      ModelThreads.expectAllNodesBack()
    }
  }
}
