// Room: Lanes/DeadlockReport. The messages with which a deadlock stops the process.

enum DeadlockReport {
  /// Stops the process: each of these threads waits for the next, and the last for the first.
  static func fail(_ cycle: [LongWait]) -> Never {
    let waiters =
      cycle.count == 1
      ? "1 thread waits for itself" : "\(cycle.count) threads wait for each other"
    var lines = ["Deadlock: \(waiters) in sync()."]
    for (index, wait) in cycle.enumerated() {
      let holder = cycle[(index + 1) % cycle.count]
      lines.append(
        "  thread \(describe(wait)) waits for queue '\(wait.lane.laneLabel)', "
          + "held by thread \(describe(holder))")
    }
    lines.append(
      "Use async() for one of these, or let all of them enter the queues in the same order.")
    clientFault(lines.joined(separator: "\n"))
  }

  private static func describe(_ wait: LongWait) -> String {
    let number = wait.thread.shared.threadID.load(ordering: .relaxed)
    let task = wait.task.map { " (\($0))" } ?? ""
    return "\(number) '\(Process.threadName(number))'\(task)"
  }
}

extension Lane {
  /// Stops the process: the calling thread wants to enter a lane that it holds already.
  final func failSelfSync(on thread: ThreadContext) -> Never {
    let name = laneLabel
    let current = Frames.innermost(thread)
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
      returns. Call the function directly, or use async().
      """)
  }
}
