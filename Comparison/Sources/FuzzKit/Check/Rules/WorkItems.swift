// Rule: a wait for a work item, and a notification of its end, come after it has run. An item that
// has not run by then was cancelled and never runs.

extension Checker {
  func checkItemWaits() throws(Violation) {
    for wait in facts.itemWaits {
      let returned = history[wait.id].returned
      guard returned > 0, let item = facts.item(wait.object) else { continue }
      if isUnfinished(item, at: returned) {
        throw Violation(
          .itemWaits, "wait \(wait.id) for item \(item.id) returned before the item had ended",
          steps: [wait.id, item.id])
      }
    }
  }

  func checkItemNotifications() throws(Violation) {
    for notification in facts.items {
      guard case .itemNotification(let id) = notification.origin else { continue }
      let started = history[notification.id].started
      guard started > 0, let item = facts.item(id) else { continue }
      if isUnfinished(item, at: started) {
        throw Violation(
          .itemNotifies,
          "notification \(notification.id) of item \(id) started before the item had ended",
          steps: [notification.id, id])
      }
    }
  }

  private func isUnfinished(_ item: Facts.ItemFacts, at time: Int) -> Bool {
    let moments = history[item.id]
    if moments.starts > 0 { return moments.ended == 0 || moments.ended > time }
    return !mayHaveBeenCancelled(item)
  }
}
