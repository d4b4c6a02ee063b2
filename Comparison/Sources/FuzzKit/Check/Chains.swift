// Purpose: the queues through which each item certainly ran: its own, and that queue's targets.
// Invariant: a chain holds no queue that the log leaves in doubt. It ends at a retargeted queue if
// either of two targets may have been in force, so that no rule demands more than was promised.

struct Chains {
  /// For each item, by its index in `Facts.items`: a bit for each queue of its chain.
  private(set) var all: [UInt64] = []
  /// The queues that the item held alone: serial ones, and its own if it was a barrier.
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

  /// The targets that `queue` may have had when it ran `item`.
  ///
  /// A retargeting is a barrier of the queue: items submitted before it run under the old target,
  /// items submitted after it under the new one. The log does not show when a queue sent itself to
  /// its target; for the queues further up it shows only that this was before the item started.
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
