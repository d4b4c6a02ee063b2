// Rule: every item whose submission was called runs once, to its end, unless it was cancelled.

extension Checker {
  func checkExactlyOnce() throws(Violation) {
    for item in facts.items {
      let moments = history[item.id]
      if moments.starts > 1 || moments.ends > 1 {
        throw Violation(
          .exactlyOnce, "item \(item.id) ran \(max(moments.starts, moments.ends)) times",
          steps: [item.id])
      }
      if moments.starts != moments.ends {
        throw Violation(
          .exactlyOnce, "item \(item.id) started and never ended", steps: [item.id])
      }
      guard wasAskedFor(item), moments.starts == 0, !mayHaveBeenCancelled(item) else { continue }
      throw Violation(
        .exactlyOnce, "item \(item.id) was submitted and never ran", steps: [item.id])
    }
  }

  private func wasAskedFor(_ item: Facts.ItemFacts) -> Bool {
    if case .iteration(let step) = item.origin { return history[step].called > 0 }
    return history[item.id].called > 0
  }

  func mayHaveBeenCancelled(_ item: Facts.ItemFacts) -> Bool {
    item.hasHandle && facts.cancels.contains { $0.object == item.id && history[$0.id].called > 0 }
  }
}
