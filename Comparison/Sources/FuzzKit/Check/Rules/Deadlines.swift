// Rule: an item of asyncAfter starts at its deadline or later, by the engine's clock.

extension Checker {
  func checkDeadlines() throws(Violation) {
    for item in facts.items {
      guard case .after = item.way, history[item.id].started > 0 else { continue }
      let early = history[item.id].calledValue - history[item.id].startedValue
      if early > 0 {
        throw Violation(
          .afterDeadline, "item \(item.id) started \(early) ns before its deadline",
          steps: [item.id])
      }
    }
  }
}
