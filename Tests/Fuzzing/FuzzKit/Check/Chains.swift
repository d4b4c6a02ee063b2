// Purpose: through which queues each item certainly ran: its own and those that it leads to. Where
// a queue was retargeted, and the log does not tell which of two targets was in force, the chain
// ends there, so that no rule asks for more than was promised.

struct Chains {
  /// For each item, as placed in Facts: a bit for each queue of its chain.
  private(set) var all: [UInt64] = []
  /// Those of them that the item had to itself: serial ones, and its own when it was a barrier.
  private(set) var exclusive: [UInt64] = []

  private let history: History
  private var facts: Facts { history.facts }

  init(_ history: History) {
    self.history = history
    for item in facts.items {
      var whole: UInt64 = 0
      var alone: UInt64 = 0
      var next = item.queue
      var isOwn = true
      while let queue = next {
        let spec = facts.program.queues[queue]
        whole |= 1 << UInt64(queue)
        if spec.isSerial || isOwn && facts.isExclusive(item) { alone |= 1 << UInt64(queue) }
        let targets = possibleTargets(of: queue, for: item, isOwn: isOwn)
        next = targets.count == 1 ? targets[0] : nil
        isOwn = false
      }
      all.append(whole)
      exclusive.append(alone)
    }
  }

  /// Where `queue` may have led when it ran `item`.
  ///
  /// A retargeting is a barrier of the queue: what was submitted to it before runs under the old
  /// target, what was submitted after it under the new one. When a queue sent itself to its target
  /// is not in the log; for those further up, only that it was before the item started.
  func possibleTargets(of queue: Int, for item: Facts.ItemFacts, isOwn: Bool) -> [Int?] {
    let first = facts.firstTargets[queue]
    guard facts.isRetargeted[queue] else { return [first] }
    let moments = history[item.id]
    let submittedAfter = isOwn ? moments.called : 0
    var submittedBefore = moments.started
    if isOwn && item.isSubmittedByCall && moments.returned > 0 {
      submittedBefore = min(submittedBefore, moments.returned)
    }
    let changes = facts.retargets.filter {
      $0.queue == queue && history[$0.id].called > 0 && history[$0.id].called < submittedBefore
    }
    func isReplaced(_ time: Int) -> Bool {
      changes.contains {
        history[$0.id].called > time && history[$0.id].returned > 0
          && history[$0.id].returned < submittedAfter
      }
    }
    var targets: [Int?] = isReplaced(0) ? [] : [first]
    for change in changes {
      let isOver = history[change.id].returned > 0
      if !isOver || !isReplaced(history[change.id].returned) { targets.append(change.target) }
    }
    return targets.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
