// Rule: concurrentPerform returns after every iteration has ended. ExactlyOnce checks that each ran
// once.

extension Checker {
  func checkIterations() throws(Violation) {
    for item in facts.items {
      guard case .iteration(let step) = item.origin, history[step].returned > 0 else { continue }
      if history[item.id].ended == 0 || history[item.id].ended > history[step].returned {
        throw Violation(
          .iterationsComplete,
          "concurrentPerform \(step) returned before its iteration \(item.id) had ended",
          steps: [step, item.id])
      }
    }
  }
}
