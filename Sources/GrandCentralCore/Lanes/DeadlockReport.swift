// Room: Lanes/DeadlockReport. The messages with which a deadlock stops the process. That of a cycle
// has the words of the dump (BlackBox/FindingWords).

enum DeadlockReport {
  /// The text for a cycle: each of these threads waits for the next, and the last for the first.
  /// Under the hierarchy lock.
  static func text(_ cycle: [LongWait]) -> String {
    let lines = cycle.enumerated().map { index, wait in
      let awaited = FindingWords.queue(wait.lane.laneLabel)
      let next = cycle[(index + 1) % cycle.count]
      let target = target(of: wait.lane, heldBy: next.thread)?.laneLabel
      return describe(wait) + " " + FindingWords.wait(for: awaited, wait.age)
        + FindingWords.held(by: describe(next), target: target)
    }
    return FindingWords.text(
      FindingWords.deadlock(threads: cycle.count), lines + [FindingWords.deadlockAdvice])
  }

  /// The target of a lane that a thread is inside; `nil`: it is inside the lane itself, or shares
  /// it with others. Under the hierarchy lock.
  private static func target(of lane: Lane, heldBy thread: ThreadContext) -> Lane? {
    var next: Lane? = lane
    while let one = next, one.kind != .root {
      // relaxed: the thread is stuck, and the lock orders what it stored before.
      if one.owner.load(ordering: .relaxed) == thread.ownerWord {
        return one === lane ? nil : one
      }
      next = one.target
    }
    return nil
  }

  private static func describe(_ wait: LongWait) -> String {
    let number = wait.thread.shared.threadID.load(ordering: .relaxed)
    let task = wait.task.map { " (\($0))" } ?? ""
    return FindingWords.thread(number, Process.threadName(number)) + task
  }
}

extension Lane {
  /// Stops the process: the calling thread wants to enter a lane that it holds already.
  final func failSelfSync(on thread: ThreadContext) -> Never {
    let name = laneLabel
    let current = Frames.innermost(thread)?.takeUnretainedValue()
    let place =
      if let current, current !== self {
        "from an item of queue '\(current.laneLabel)', which leads to it"
      } else {
        "from an item of that queue"
      }
    let task = TaskNames.current().map { ", in \($0)" } ?? ""
    clientFault(
      """
      Deadlock: sync on queue '\(name)' \(place)\(task). The queue cannot run anything else until \
      this item \
      returns, and an item that an exception or longjmp() has left never does. Call the function \
      directly, or use async().
      """)
  }
}
