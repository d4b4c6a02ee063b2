// Rule: between the return of suspend and the call of resume, no item starts on the queue
//   that was submitted after the return (of concurrent queues: if the engine promises that), or
//   that runs through the queue at all, if the suspending item holds the queue alone: then no other
//   item can have been on its way to a thread.
// An initially inactive queue starts no item before its activation.

extension Checker {
  func checkSuspension() throws(Violation) {
    for suspension in facts.suspensions {
      let begin = history[suspension.id].returned
      // The log of a run that hangs may lack the end.
      let end = history[suspension.id].released
      guard begin > 0, end > begin else { continue }
      let isAlone = isFromWithin(suspension)
      let isConcurrent = facts.program.queues[suspension.object].kind == .concurrent
      let holdsAtOnce = !isConcurrent || promises.contains(.suspendsConcurrentAtOnce)
      for (index, item) in facts.items.enumerated() {
        let moments = history[item.id]
        guard moments.started > begin, moments.started < end else { continue }
        let isLater =
          holdsAtOnce && item.queue == suspension.object && moments.called > begin
        let isThrough = chains.all[index] & 1 << UInt64(suspension.object) != 0
        if isLater || isAlone && isThrough {
          throw Violation(
            .suspension,
            "item \(item.id) started on \(name(suspension.object)) between its suspension and "
              + "resumption in step \(suspension.id)",
            steps: [suspension.id, item.id])
        }
      }
    }
  }

  /// Whether the suspending step is part of an item that holds the queue alone.
  private func isFromWithin(_ suspension: Facts.Pair) -> Bool {
    guard let context = suspension.context, let item = facts.item(context) else { return false }
    return item.queue == suspension.object && facts.isExclusive(item)
  }

  func checkActivation() throws(Violation) {
    for activation in facts.activations {
      let called = history[activation.id].called
      for (index, item) in facts.items.enumerated() {
        let moments = history[item.id]
        guard moments.started > 0, called == 0 || moments.started < called else { continue }
        if chains.all[index] & 1 << UInt64(activation.queue) != 0 {
          throw Violation(
            .activation,
            "item \(item.id) started before \(name(activation.queue)) was activated",
            steps: [activation.id, item.id])
        }
      }
    }
  }
}
