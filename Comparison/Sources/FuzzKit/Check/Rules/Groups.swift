// Rule: a successful wait for a group, and a notification, come after the end of every item that
// was a member before the wait or notification was called.

extension Checker {
  func checkGroupWaits() throws(Violation) {
    for wait in facts.groupWaits {
      let moments = history[wait.id]
      guard moments.returned > 0, moments.returnedValue == 1 else { continue }
      if let member = unfinished(wait.object, since: moments.called, at: moments.returned) {
        throw Violation(
          .groupWaits,
          "wait \(wait.id) for group \(wait.object) returned before its member \(member) had ended",
          steps: [wait.id, member])
      }
    }
  }

  func checkGroupNotifications() throws(Violation) {
    for item in facts.items {
      guard case .notification(let group) = item.origin else { continue }
      let moments = history[item.id]
      guard moments.started > 0 else { continue }
      if let member = unfinished(group, since: moments.called, at: moments.started) {
        throw Violation(
          .groupNotifies,
          "notification \(item.id) of group \(group) started before its member \(member) had ended",
          steps: [item.id, member])
      }
    }
  }

  /// Returns an item that was a member before `time` and had not ended at `end`.
  private func unfinished(_ group: Int, since time: Int, at end: Int) -> Int? {
    facts.items.first { item in
      guard item.group == group else { return false }
      let moments = history[item.id]
      guard moments.returned > 0, moments.returned < time else { return false }
      // A cancelled item leaves the group without running.
      return moments.ended > end || moments.ended == 0 && !mayHaveBeenCancelled(item)
    }?.id
  }
}
