// Rule: two items do not overlap if one holds for itself a queue through which the other runs.

extension Checker {
  func checkExclusion() throws(Violation) {
    let ran = facts.items.indices.filter {
      facts.items[$0].queue != nil && history[facts.items[$0].id].started > 0
    }
    for (position, one) in ran.enumerated() {
      for other in ran[(position + 1)...] {
        let shared =
          chains.exclusive[one] & chains.all[other] | chains.all[one] & chains.exclusive[other]
        if shared != 0 && overlap(one, other) { throw overlapViolation(one, other, shared) }
      }
    }
  }

  private func overlap(_ one: Int, _ other: Int) -> Bool {
    let first = history[facts.items[one].id]
    let second = history[facts.items[other].id]
    return first.started < end(second) && second.started < end(first)
  }

  /// The end of an item. An item that never ended still runs.
  private func end(_ moments: Moments) -> Int { moments.ended > 0 ? moments.ended : .max }

  private func overlapViolation(_ one: Int, _ other: Int, _ shared: UInt64) -> Violation {
    let queue = shared.trailingZeroBitCount
    let items = [facts.items[one].id, facts.items[other].id]
    let isSerial = facts.program.queues[queue].isSerial
    return Violation(
      isSerial ? .serialExclusion : .barrierExclusion,
      "items \(items[0]) and \(items[1]) overlapped, and "
        + (isSerial ? "both run" : "a barrier runs") + " on \(name(queue))",
      steps: items)
  }
}
