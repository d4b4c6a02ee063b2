// Rule: sync, asyncAndWait and perform return after the item has ended, with its closure's value.

extension Checker {
  func checkSync() throws(Violation) {
    for item in facts.items {
      guard let way = item.way, way.isInline else { continue }
      let moments = history[item.id]
      guard moments.returned > 0 else { continue }
      if moments.starts > 0 && (moments.ended == 0 || moments.ended > moments.returned) {
        throw Violation(
          .syncReturnsAfter, "\(way) of item \(item.id) returned before the item had ended",
          steps: [item.id])
      }
      if !item.hasHandle && moments.returnedValue != item.id {
        throw Violation(
          .syncReturnsAfter,
          "\(way) of item \(item.id) returned the value \(moments.returnedValue), not the item's",
          steps: [item.id])
      }
    }
  }
}
