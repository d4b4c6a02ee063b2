// Rule: an item does not run if its cancellation returned before its submission, or before the end
// of another item that held its serial queue when the item could have started.

extension Checker {
  func checkCancellation() throws(Violation) {
    for cancel in facts.cancels {
      let cancelled = history[cancel.id].returned
      guard cancelled > 0, let item = facts.item(cancel.object) else { continue }
      let moments = history[item.id]
      guard moments.started > 0 else { continue }
      if cancelled < moments.called {
        throw Violation(
          .cancellation,
          "item \(item.id) ran, though step \(cancel.id) had cancelled it before it was submitted",
          steps: [cancel.id, item.id])
      }
      if let before = predecessor(of: item, endingAfter: cancelled) {
        throw Violation(
          .cancellation,
          "item \(item.id) ran, though step \(cancel.id) had cancelled it before item \(before), "
            + "which ran ahead of it, had ended",
          steps: [cancel.id, before, item.id])
      }
    }
  }

  private func predecessor(of item: Facts.ItemFacts, endingAfter time: Int) -> Int? {
    guard let queue = item.queue, facts.program.queues[queue].isSerial else { return nil }
    return facts.items.first { other in
      let moments = history[other.id]
      return other.id != item.id && other.queue == queue && moments.ended > time
        && moments.started > 0 && moments.ended < history[item.id].started
    }?.id
  }
}
