// Rule: a specific read in an item is the value of the item's queue, or else of the nearest target
// that has one. If several targets may have been in force, the value of any of them is correct.

extension Checker {
  func checkSpecifics() throws(Violation) {
    for read in facts.reads {
      guard history[read.id].returned > 0, let context = read.context,
        let item = facts.item(context), let queue = item.queue
      else { continue }
      let found = history[read.id].returnedValue
      var expected: Set<Int> = []
      collect(&expected, key: read.object, queue, item, isOwn: true)
      if !expected.contains(found) {
        let wanted = expected.sorted().map { Self.word($0) }.joined(separator: " or ")
        throw Violation(
          .specifics,
          "step \(read.id) in item \(item.id) found \(Self.word(found)) for key \(read.object), "
            + "not \(wanted)",
          steps: [item.id, read.id])
      }
    }
  }

  /// Names a value: the number of the queue that has it, plus one; 0 is none.
  private static func word(_ value: Int) -> String {
    value == 0 ? "none" : "that of queue \(value - 1)"
  }

  private func collect(
    _ values: inout Set<Int>, key: Int, _ queue: Int, _ item: Facts.ItemFacts, isOwn: Bool
  ) {
    if facts.program.queues[queue].specifics & 1 << key != 0 {
      values.insert(queue + 1)
      return
    }
    for target in chains.possibleTargets(of: queue, for: item, isOwn: isOwn) {
      guard let target else {
        values.insert(0)
        continue
      }
      collect(&values, key: key, target, item, isOwn: false)
    }
  }
}
