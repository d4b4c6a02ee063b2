// Room: Models/Groups. DispatchGroup: members enter and leave, threads wait, notifications run.
// Invariant: a wait ends after all members of its generation and sees what they wrote; each
// notification is delivered once, after the members, in the order of the generations.
// Protocol: Coordination/GroupState. Further models: GroupWaitModels, GroupReleaseModels.

extension Catalogue {
  static var groups: [EngineModel] {
    [
      EngineModel("group: two threads leave, one waits", Groups.twoLeave),
      EngineModel(
        "group: two threads leave, one waits, with spurious failures",
        adjust: {
          $0.spuriousWakes = 1
          $0.spuriousFailures = 1
        }, Groups.twoLeave),
      EngineModel("group: one thread leaves, two wait", Groups.twoWait),
      EngineModel("group: one thread enters while the last leaves", Groups.enterWhileLeaving),
      EngineModel(
        "group: a wait with a deadline", adjust: { $0.timeOuts = 1 }, Groups.waitWithDeadline),
      EngineModel(
        "group: two waits with deadlines, one thread leaves", adjust: { $0.timeOuts = 1 },
        Groups.twoDeadlines),
      EngineModel("group: one thread waits for two generations", Groups.generations),
      EngineModel(
        "group: a notification is registered while the last member leaves", Groups.notify),
      EngineModel("group: two threads leave, one notification", Groups.twoLeaveOneNotified),
      EngineModel(
        "group: one thread waits, one notification", reach: .exhaustedStrong,
        Groups.waitAndNotify),
      EngineModel("group: two threads register, one leaves", Groups.twoRegister),
      EngineModel(
        "group: notifications of two generations run in order", Groups.notificationsInOrder),
      EngineModel(
        "group: a late claimer delivers for the next generation", Groups.lateClaimer),
      EngineModel("group: async with a group", Groups.asyncMember),
    ]
  }
}

private enum Groups {
  static func twoLeave(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let first = Plain()
    let second = Plain()
    group.enter()
    group.enter()
    scene.thread("first") {
      first.value = 1
      group.leave()
    }
    scene.thread("second") {
      second.value = 1
      group.leave()
    }
    scene.thread("waiter") {
      group.wait()
      Checker.expect(first.value + second.value == 2, "the wait ended before the members")
    }
  }

  static func twoWait(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let done = Plain()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    for name in ["waiter", "other waiter"] {
      scene.thread(name) {
        group.wait()
        Checker.expect(done.value == 1, "the wait ended before the member")
      }
    }
  }

  /// A member that enters before the group was seen empty may belong to the same generation or not.
  /// In either case the wait includes the first member's work.
  static func enterWhileLeaving(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let done = Plain()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    scene.thread("late member") {
      group.enter()
      group.leave()
    }
    scene.thread("waiter") {
      group.wait()
      Checker.expect(done.value == 1, "the wait ended before the member")
    }
  }

  static func waitWithDeadline(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let done = Plain()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    scene.thread("waiter") {
      if group.wait(limit: .at(.monotonic(nanoseconds: soon))) == .timedOut { group.wait() }
      Checker.expect(done.value == 1, "the wait ended before the member")
    }
  }

  /// A waiter that times out leaves its flag and the phantom. Neither may affect the other waiter.
  static func twoDeadlines(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let done = Plain()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    for name in ["waiter", "other waiter"] {
      scene.thread(name) {
        if group.wait(limit: .at(.monotonic(nanoseconds: soon))) == .success {
          Checker.expect(done.value == 1, "the wait ended before the member")
        }
      }
    }
    scene.finally {
      Checker.expect(group.wait(limit: .now) == .success, "the group is not empty")
    }
  }

  static func generations(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let first = Plain()
    let second = Plain()
    group.enter()
    scene.thread("member") {
      first.value = 1
      group.leave()
      group.enter()
      second.value = 1
      group.leave()
    }
    scene.thread("waiter") {
      group.wait()
      Checker.expect(first.value == 1, "the wait ended before the first generation")
      group.wait()
      group.enter()
      group.leave()
    }
    scene.finally { Checker.expect(second.value == 1, "the second generation is missing") }
  }

  static func notify(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    scene.thread("observer") {
      let captured = Counted()
      group.notify(queue: root) {
        withExtendedLifetime(captured) { notified.add(done.value) }
      }
    }
    scene.finally {
      Checker.expect(
        notified.entries == [1], "notified \(notified.entries), not once after the member")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func twoLeaveOneNotified(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = SpawningRoot()
    let (first, second) = (Plain(), Plain())
    let notified = Journal()
    group.enter()
    group.enter()
    scene.thread("first") {
      first.value = 1
      group.leave()
    }
    scene.thread("second") {
      second.value = 1
      group.leave()
    }
    scene.thread("observer") {
      group.notify(queue: root) { notified.add(first.value + second.value) }
    }
    scene.finally {
      Checker.expect(
        notified.entries == [2], "notified \(notified.entries), not once after the members")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func waitAndNotify(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    scene.thread("observer") { group.notify(queue: root) { notified.add(done.value) } }
    scene.thread("waiter") {
      group.wait()
      Checker.expect(done.value == 1, "the wait ended before the member")
    }
    scene.finally {
      Checker.expect(
        notified.entries == [1], "notified \(notified.entries), not once after the member")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func twoRegister(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leave()
    }
    for name in ["observer", "other observer"] {
      scene.thread(name) { group.notify(queue: root) { notified.add(done.value) } }
    }
    scene.finally {
      Checker.expect(notified.entries == [1, 1], "notified \(notified.entries), not twice")
      ModelThreads.expectAllNodesBack()
    }
  }

  /// The first generation's claimer may deliver after the second generation has ended. Its
  /// notification must nevertheless come before the second's.
  static func notificationsInOrder(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = KeepingRoot()
    let notified = Journal()
    group.enter()
    scene.thread("member") { group.leave() }
    scene.thread("observer") {
      group.notify(queue: root) { notified.add(1) }
      group.enter()
      group.notify(queue: root) { notified.add(2) }
      group.leave()
    }
    scene.finally {
      root.runAll()
      Checker.expect(notified.entries == [1, 2], "notified in the order \(notified.entries)")
      ModelThreads.expectAllNodesBack()
    }
  }

  /// The first generation's claimer may find that the second has ended, and deliver the second's
  /// notification before the second's claimer does. It must then have seen what the second's
  /// members did.
  static func lateClaimer(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    group.enter()
    scene.thread("member") { group.leave() }
    scene.thread("observer") {
      group.notify(queue: root) {}
      group.enter()
      group.notify(queue: root) { notified.add(done.value) }
      Checker.spawn("second member") {
        done.value = 1
        group.leave()
      }
    }
    scene.finally {
      Checker.expect(
        notified.entries == [1], "notified \(notified.entries), not once after the member")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func asyncMember(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let root = SpawningRoot()
    let done = Plain()
    scene.thread("submitter") {
      let captured = Counted()
      root.asyncUnsafe(group: group) { withExtendedLifetime(captured) { done.value = 1 } }
      group.wait()
      Checker.expect(done.value == 1, "the wait ended before the member")
    }
    scene.finally { ModelThreads.expectAllNodesBack() }
  }
}

extension Catalogue {
  static var groupMutants: [Mutant] {
    [
      Mutant(
        "a leave does not release", in: "DispatchGroup.swift",
        at: "word.wrappingSubtract(GroupState.oneMember", .dropsRelease,
        foundBy: "group: two threads leave, one waits"),
      Mutant(
        "a leave is a load and a store", in: "DispatchGroup.swift",
        at: "word.wrappingSubtract(GroupState.oneMember", .splits,
        foundBy: "group: two threads leave, one waits"),
      Mutant(
        "an enter is a load and a store", in: "DispatchGroup.swift",
        at: "word.wrappingAdd(GroupState.oneMember", .splits,
        foundBy: "group: one thread enters while the last leaves"),
      Mutant(
        "a claim is not compared", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "private func claim()", .isBlind,
        foundBy: "group: one thread enters while the last leaves"),
      Mutant(
        "a watcher's registration is not compared", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "func watch(", .isBlind,
        foundBy: "group: two threads leave, one waits"),
      Mutant(
        "a waiter's flag is lost", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "func watch(", .clears(bits: 1),
        foundBy: "group: two threads leave, one waits"),
      Mutant(
        "a notification's flag is lost", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "func watch(", .clears(bits: 2),
        foundBy: "group: a notification is registered while the last member leaves"),
      Mutant(
        "the last leave wakes no thread", in: "DispatchGroup.swift",
        at: "futexWake(lowHalfOf: word",
        after: "private func claim()", .skips, foundBy: "group: two threads leave, one waits"),
      Mutant(
        "the last leave wakes one", in: "DispatchGroup.swift", at: "futexWake(lowHalfOf: word",
        after: "private func claim()", .wakesOne, foundBy: "group: one thread leaves, two wait"),
      Mutant(
        "a waiter sleeps without checking the word", in: "DispatchGroup.swift",
        at: "futexWait(lowHalfOf: word", .sleepsBlindly,
        foundBy: "group: two threads leave, one waits"),
      Mutant(
        "a thread that delivers for another does not acquire", in: "DispatchGroup+Deliver.swift",
        at: "word.load(ordering: .acquiring)", .dropsAcquire,
        foundBy: "group: a late claimer delivers for the next generation"),
      Mutant(
        "the generation does not change", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "private func claim()",
        .clears(bits: 4), foundBy: "group: two threads leave, one waits"),
    ]
  }
}
