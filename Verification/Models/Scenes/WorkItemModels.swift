// Room: Models/WorkItems. DispatchWorkItem: executions, the one wait, notifications, cancellation.
// Invariant: a wait ends after an execution and sees what it wrote; each notification is
// delivered once, in order, after the first execution; each queue that an item was submitted to
// is released.
// Protocol: Queues/WorkItemState.

extension Catalogue {
  static var workItems: [EngineModel] {
    [
      EngineModel("work item: one thread performs, one waits", WorkItems.performAndWait),
      EngineModel(
        "work item: one thread performs, one waits, with spurious failures",
        adjust: {
          $0.spuriousWakes = 1
          $0.spuriousFailures = 1
        }, WorkItems.performAndWait),
      EngineModel(
        "work item: a wait with a deadline", adjust: { $0.timeOuts = 1 },
        WorkItems.waitWithDeadline),
      EngineModel("work item: one thread cancels, one performs, one waits", WorkItems.cancel),
      EngineModel("work item: one thread performs, one registers", WorkItems.notify),
      EngineModel("work item: one thread performs, two register", WorkItems.twoRegister),
      EngineModel(
        "work item: one thread waits, one registers", reach: .bounded(preemptions: 3),
        WorkItems.waitAndNotify),
      EngineModel(
        "work item: a notification is on its queue when a wait ends",
        WorkItems.notifiedWhenWaitEnds),
      EngineModel("work item: notifications run in order", WorkItems.notificationsInOrder),
      EngineModel("work item: two threads perform, one registers", WorkItems.performTwice),
      EngineModel("work item: one thread submits and waits", WorkItems.submitAndWait),
      EngineModel(
        "work item: one thread submits and waits with a deadline", adjust: { $0.timeOuts = 1 },
        WorkItems.submitAndWaitWithDeadline),
      EngineModel(
        "work item: a timed-out wait keeps a later submission", adjust: { $0.timeOuts = 1 },
        WorkItems.submitDuringWait),
      EngineModel("work item: two threads submit", WorkItems.submitTwice),
      EngineModel("work item: it is destroyed with its notifications", WorkItems.die),
    ]
  }
}

private enum WorkItems {
  static func performAndWait(_ scene: Scene) {
    let done = Plain()
    let item = DispatchWorkItem { done.value = 1 }
    scene.thread("performer") { item.perform() }
    scene.thread("waiter") {
      item.wait()
      Checker.expect(done.value == 1, "the wait ended before the execution")
    }
  }

  static func waitWithDeadline(_ scene: Scene) {
    let done = Plain()
    let item = DispatchWorkItem { done.value = 1 }
    scene.thread("performer") { item.perform() }
    scene.thread("waiter") {
      let limit = TimeLimit.at(.monotonic(nanoseconds: soon))
      if item.wait(limit: limit) == .timedOut { item.wait() }
      Checker.expect(done.value == 1, "the wait ended before the execution")
    }
  }

  /// Each wait ends whether or not the block ran, and `isCancelled` never becomes false again.
  static func cancel(_ scene: Scene) {
    let runs = Journal()
    let item = DispatchWorkItem { runs.add(1) }
    scene.thread("canceller") {
      item.cancel()
      Checker.expect(item.isCancelled, "the cancellation is lost")
    }
    scene.thread("performer") { item.perform() }
    scene.thread("waiter") { item.wait() }
    scene.finally {
      Checker.expect(item.isCancelled, "the cancellation is lost")
      Checker.expect(runs.entries.count <= 1, "it ran twice")
    }
  }

  static func notify(_ scene: Scene) {
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    let item = DispatchWorkItem { done.value = 1 }
    scene.thread("performer") { item.perform() }
    scene.thread("observer") {
      let captured = Counted()
      item.notify(queue: root) { withExtendedLifetime(captured) { notified.add(done.value) } }
    }
    scene.finally {
      Checker.expect(
        notified.entries == [1], "notified \(notified.entries), not once after the work")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func twoRegister(_ scene: Scene) {
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    let item = DispatchWorkItem { done.value = 1 }
    scene.thread("performer") { item.perform() }
    for name in ["observer", "other observer"] {
      scene.thread(name) { item.notify(queue: root) { notified.add(done.value) } }
    }
    scene.finally {
      Checker.expect(notified.entries == [1, 1], "notified \(notified.entries), not twice")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func waitAndNotify(_ scene: Scene) {
    let root = SpawningRoot()
    let done = Plain()
    let notified = Journal()
    let item = DispatchWorkItem { done.value = 1 }
    scene.thread("performer") { item.perform() }
    scene.thread("waiter") {
      item.wait()
      Checker.expect(done.value == 1, "the wait ended before the execution")
    }
    scene.thread("observer") { item.notify(queue: root) { notified.add(done.value) } }
    scene.finally {
      Checker.expect(
        notified.entries == [1], "notified \(notified.entries), not once after the work")
      ModelThreads.expectAllNodesBack()
    }
  }

  /// The performer may deliver after the waiter has seen the end of the execution.
  static func notifiedWhenWaitEnds(_ scene: Scene) {
    let root = CountingRoot()
    let item = DispatchWorkItem {}
    scene.thread("performer") { item.perform() }
    scene.thread("waiter") {
      item.notify(queue: root) {}
      item.wait()
      root.expectSubmitted(1)
    }
    scene.finally {
      root.runAll()
      ModelThreads.expectAllNodesBack()
    }
  }

  static func notificationsInOrder(_ scene: Scene) {
    let root = KeepingRoot()
    let notified = Journal()
    let item = DispatchWorkItem {}
    scene.thread("performer") { item.perform() }
    scene.thread("observer") {
      item.notify(queue: root) { notified.add(1) }
      item.notify(queue: root) { notified.add(2) }
    }
    scene.finally {
      root.runAll()
      Checker.expect(notified.entries == [1, 2], "notified in the order \(notified.entries)")
      ModelThreads.expectAllNodesBack()
    }
  }

  /// Runs the item twice. Only the end of the first execution notifies.
  static func performTwice(_ scene: Scene) {
    let root = SpawningRoot()
    let (runs, notified) = (Journal(), Journal())
    let item = DispatchWorkItem { runs.add(1) }
    scene.thread("performer") { item.perform() }
    scene.thread("other performer") { item.perform() }
    scene.thread("observer") { item.notify(queue: root) { notified.add(1) } }
    scene.finally {
      Checker.expect(runs.entries.count == 2, "it ran \(runs.entries.count) times, not twice")
      Checker.expect(notified.entries == [1], "notified \(notified.entries.count) times, not once")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func submitAndWait(_ scene: Scene) {
    let root = SpawningRoot()
    let done = Plain()
    scene.thread("submitter") {
      let captured = Counted()
      let item = DispatchWorkItem { withExtendedLifetime(captured) { done.value = 1 } }
      root.async(execute: item)
      item.wait()
      Checker.expect(done.value == 1, "the wait ended before the execution")
    }
    scene.finally { ModelThreads.expectAllNodesBack() }
  }

  static func submitAndWaitWithDeadline(_ scene: Scene) {
    let root = SpawningRoot()
    let done = Plain()
    scene.thread("submitter") {
      let item = DispatchWorkItem { done.value = 1 }
      root.async(execute: item)
      let limit = TimeLimit.at(.monotonic(nanoseconds: soon))
      if item.wait(limit: limit) == .timedOut { item.wait() }
      Checker.expect(done.value == 1, "the wait ended before the execution")
    }
    scene.finally { ModelThreads.expectAllNodesBack() }
  }

  /// A waiter takes the queue of the first submission, and gives up after the second one.
  static func submitDuringWait(_ scene: Scene) {
    let (older, newer) = (KeepingRoot(), KeepingRoot())
    let item = DispatchWorkItem {}
    older.async(execute: item)
    scene.thread("waiter") {
      let limit = TimeLimit.at(.monotonic(nanoseconds: soon))
      Checker.expect(item.wait(limit: limit) == .timedOut, "an item that never ran is done")
    }
    scene.thread("submitter") { newer.async(execute: item) }
    scene.finally {
      let last = item.takeSubmission()?.takeRetainedValue()
      Checker.expect(last === newer, "a waiter would not find the queue of the last submission")
      older.runAll()
      newer.runAll()
    }
  }

  /// Each submission retains its queue until an execution ends.
  static func submitTwice(_ scene: Scene) {
    let runs = Journal()
    let item = DispatchWorkItem { runs.add(1) }
    for name in ["submitter", "other submitter"] {
      scene.thread(name) { SpawningRoot().async(execute: item) }
    }
    scene.finally {
      Checker.expect(runs.entries.count == 2, "it ran \(runs.entries.count) times, not twice")
      ModelThreads.expectAllNodesBack()
    }
  }

  static func die(_ scene: Scene) {
    let root = KeepingRoot()
    scene.thread("owner") {
      let captured = Counted()
      let other = DispatchWorkItem {}
      let item = DispatchWorkItem {}
      item.notify(queue: root) { withExtendedLifetime(captured) {} }
      item.notify(queue: root, execute: other)
    }
    scene.finally {
      Checker.expect(root.runAll() == 0, "a notification of an item that never ran")
      ModelThreads.expectAllNodesBack()
    }
  }
}

extension Catalogue {
  static var workItemMutants: [Mutant] {
    let file = "DispatchWorkItem.swift"
    let wait = "DispatchWorkItem+Wait.swift"
    return [
      Mutant(
        "an execution does not release", in: file, at: "state.transition(.releasing",
        .dropsRelease, foundBy: "work item: one thread performs, one waits"),
      Mutant(
        "an execution's end does not compare", in: file, at: "state.transition(.releasing",
        .isBlind, foundBy: "work item: one thread performs, one waits"),
      Mutant(
        "an execution's end wakes no thread", in: file, at: "futexWake(state", .skips,
        foundBy: "work item: one thread performs, one waits"),
      Mutant(
        "a cancellation is a load and a store", in: file, at: "$0.cancelled()", .splits,
        foundBy: "work item: one thread cancels, one performs, one waits"),
      Mutant(
        "a waiter that gives up restores an older queue", in: "DispatchWorkItem.swift",
        at: "let (won, _) = submission.compareExchange(", .isBlind,
        foundBy: "work item: a timed-out wait keeps a later submission"),
      Mutant(
        "a waiter sleeps without checking the word", in: wait, at: "futexWait(state",
        .sleepsBlindly,
        foundBy: "work item: one thread performs, one waits"),
      Mutant(
        "a wait ends before the notifications are submitted", in: wait,
        at: "state.load(ordering: .relaxed).isNotified", after: "func wait(limit", .returns(0),
        foundBy: "work item: a notification is on its queue when a wait ends"),
      Mutant(
        "a sleeper is not recorded", in: wait, at: "state.transition(.relaxed",
        after: "private func sleep(",
        .clears(bits: 16), foundBy: "work item: one thread performs, one waits"),
      Mutant(
        "a timed-out waiter does not compare", in: wait, at: "state.transition(.relaxed",
        after: "private func endTimedOut(", .isBlind, foundBy: "work item: a wait with a deadline"),
      Mutant(
        "a timed-out waiter leaves its flag", in: wait, at: "state.transition(.relaxed",
        after: "private func endTimedOut(", .sets(bits: 8),
        foundBy: "work item: a wait with a deadline"),
      Mutant(
        "an observer does not compare", in: wait, at: "state.transition(.relaxed",
        after: "private func register(",
        .isBlind, foundBy: "work item: one thread performs, one registers"),
      Mutant(
        "an observer's flag is lost", in: wait, at: "state.transition(.relaxed",
        after: "private func register(",
        .clears(bits: 32), foundBy: "work item: one thread performs, one registers"),
      Mutant(
        "a late observer does not acquire", in: wait, at: "state.load(ordering: .acquiring)",
        after: "private func acquireResult(", .dropsAcquire,
        foundBy: "work item: one thread performs, one registers"),
      Mutant(
        "a submission is lost", in: file, at: "submission.exchange(retained", .splits,
        foundBy: "work item: two threads submit"),
    ]
  }
}
