// Purpose: prints the tasks and actors of a program.

extension Program {
  var hasActors: Bool {
    allOps.flatMap(\.submissions).contains { if case .actor = $0.way { true } else { false } }
  }
}

extension SwiftSource {
  /// Writes the actor through which the program's tasks reach a serial queue.
  mutating func writeActorClass() {
    block("actor QueueActor {") {
      $0.put("let queue: DispatchSerialQueue")
      $0.put("init(_ queue: DispatchQueue) { self.queue = queue as! DispatchSerialQueue }")
      $0.block("nonisolated var unownedExecutor: UnownedSerialExecutor {") {
        $0.put("queue.asUnownedSerialExecutor()")
      }
      $0.put("func hop() {}")
      $0.put("func run(_ body: @Sendable () -> Void) { body() }")
    }
    put("")
  }

  /// The line that submits an item, up to its closure's brace.
  func opening(_ submission: Submission) -> String {
    let executor: String
    switch submission.way {
    case .task: executor = "queue\(submission.queue)"
    case .actor: executor = "hops"
    default: return "queue\(submission.queue)\(call(submission)) {"
    }
    let priority =
      submission.qos == 0
      ? "" : ", priority: TaskPriority(rawValue: \(QoSName.taskPriorities[submission.qos]))"
    return "Task.detached(executorPreference: \(executor)\(priority)) {"
  }

  /// Writes the item inside the closure that `opening` begins.
  mutating func writeItem(of submission: Submission) {
    guard case .actor(let hops) = submission.way else { return writeItem(submission.item) }
    put("let actor = QueueActor(queue\(submission.queue))")
    for _ in 0..<hops { put("await actor.hop()") }
    block("await actor.run {") { $0.writeItem(submission.item) }
  }
}
