// Rule: if one item's submission to a queue was over before another's began, the first item comes
// first. On a serial queue it starts first. If either is a barrier, the first ends before the
// second starts.

extension Checker {
  func checkSerialOrder() throws(Violation) {
    try forEachOrderedPair { first, second, queue throws(Violation) in
      guard facts.program.queues[queue].isSerial else { return }
      if history[first.id].started > history[second.id].started {
        throw Violation(
          .serialOrder,
          "item \(first.id) was submitted to \(name(queue)) before item \(second.id), "
            + "and started after it",
          steps: [first.id, second.id])
      }
    }
  }

  func checkBarrierOrder() throws(Violation) {
    try forEachOrderedPair { first, second, queue throws(Violation) in
      guard facts.program.queues[queue].kind == .concurrent else { return }
      guard first.isBarrier || second.isBarrier else { return }
      if history[first.id].ended > history[second.id].started {
        let barrier = first.isBarrier ? first.id : second.id
        throw Violation(
          .barrierOrder,
          "item \(first.id) was submitted to \(name(queue)) before item \(second.id), and had not "
            + "ended when that started; \(barrier) is a barrier",
          steps: [first.id, second.id])
      }
    }
  }

  /// Calls `body` with pairs of items of one queue, the first submitted before the second.
  private func forEachOrderedPair(
    _ body: (Facts.ItemFacts, Facts.ItemFacts, Int) throws(Violation) -> Void
  ) throws(Violation) {
    for first in facts.items where first.isSubmittedByCall {
      guard let queue = first.queue, history[first.id].returned > 0,
        history[first.id].started > 0
      else { continue }
      for second in facts.items where second.queue == queue && history[second.id].started > 0 {
        if history[first.id].returned < history[second.id].called {
          try body(first, second, queue)
        }
      }
    }
  }
}
