// Rule: an item starts after the call that submits it; an iteration starts after its step was
// called.

extension Checker {
  func checkNotBeforeCall() throws(Violation) {
    for item in facts.items {
      let moments = history[item.id]
      guard moments.started > 0 else { continue }
      var called = moments.called
      if case .iteration(let step) = item.origin { called = history[step].called }
      if called == 0 || moments.started < called {
        throw Violation(
          .notBeforeCall, "item \(item.id) started before it was submitted", steps: [item.id])
      }
    }
  }
}
