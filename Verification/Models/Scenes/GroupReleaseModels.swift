// Room: Models/GroupRelease. Groups of C programs: a thread leaves a group without a reference of
// its own, and its leave lets another thread release the group.

extension Catalogue {
  static var groupReleases: [EngineModel] {
    [
      EngineModel(
        "group: the waiter releases the group that another thread leaves",
        adjust: { $0.timeOuts = 1 }, GroupRelease.waiterReleases),
      EngineModel(
        "group: a notification releases the group that another thread leaves",
        GroupRelease.notificationReleases),
      EngineModel(
        "group: the waiter releases a group with a notification that another thread leaves",
        GroupRelease.notifiedWaiterReleases),
      EngineModel(
        "group: a leave on the fast path, an enter and leave, a wait",
        GroupRelease.enterBesideLeaveAtOnce),
    ]
  }

  static var groupReleaseMutants: [Mutant] {
    [
      Mutant(
        "a leave on the fast path does not release", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "func leaveAtOnce()",
        .dropsRelease, foundBy: "group: the waiter releases the group that another thread leaves"),
      Mutant(
        "a leave on the fast path does not compare", in: "DispatchGroup.swift",
        at: "let (won, now) = word.weakCompareExchange(", after: "func leaveAtOnce()", .isBlind,
        foundBy: "group: a leave on the fast path, an enter and leave, a wait"),
      Mutant(
        "a leave on the fast path wakes no thread", in: "DispatchGroup.swift",
        at: "futexWake(lowHalfOf: word", after: "func leaveAtOnce()", .skips,
        foundBy: "group: a leave on the fast path, an enter and leave, a wait"),
    ]
  }
}

private enum GroupRelease {
  /// A handle of a C program. The member's thread holds no reference of its own.
  private struct Handle: @unchecked Sendable {
    let group = Unmanaged.passRetained(DispatchGroup(spinLimit: 0))

    func use<Result>(_ body: (DispatchGroup) -> Result) -> Result {
      group._withUnsafeGuaranteedRef(body)
    }
  }

  /// The waiter has timed out before and left its flag. It may find the group empty before the
  /// leave has returned.
  static func waiterReleases(_ scene: Scene) {
    let handle = Handle()
    let done = Plain()
    handle.use { $0.enter() }
    scene.thread("member") {
      done.value = 1
      handle.use { $0.leaveAtOnce() }
    }
    scene.thread("waiter") {
      if handle.use({ $0.wait(limit: .at(.monotonic(nanoseconds: soon))) }) == .timedOut {
        handle.use { $0.wait() }
      }
      Checker.expect(done.value == 1, "the wait ended before the member")
      handle.group.release()
    }
  }

  /// Another thread, which has its own reference, may deliver the notification first.
  static func notificationReleases(_ scene: Scene) {
    let handle = Handle()
    let root = SpawningRoot()
    handle.use {
      $0.enter()
      $0.notify(queue: root) { handle.group.release() }
    }
    _ = handle.group.retain()
    scene.thread("member") { handle.use { $0.leaveAtOnce() } }
    scene.thread("other") {
      handle.use { $0.notify(queue: root) {} }
      handle.group.release()
    }
    scene.finally { ModelThreads.expectAllNodesBack() }
  }

  /// The waiter may deliver for the thread that leaves, and release the group before that thread
  /// looks for notifications.
  static func notifiedWaiterReleases(_ scene: Scene) {
    let handle = Handle()
    let root = CountingRoot()
    handle.use { $0.enter() }
    scene.thread("member") { handle.use { $0.leaveAtOnce() } }
    scene.thread("waiter") {
      handle.use {
        $0.notify(queue: root) {}
        $0.wait()
      }
      root.expectSubmitted(1)
      handle.group.release()
    }
    scene.finally {
      root.runAll()
      ModelThreads.expectAllNodesBack()
    }
  }

  static func enterBesideLeaveAtOnce(_ scene: Scene) {
    let group = DispatchGroup(spinLimit: 0)
    let done = Plain()
    group.enter()
    scene.thread("member") {
      done.value = 1
      group.leaveAtOnce()
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
}
