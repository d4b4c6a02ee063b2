// Purpose: how long a run may take before it counts as hung.

extension Program {
  /// Whether an item waits without a call into the engine.
  public var hasBusyWaits: Bool {
    allOps.contains { op in
      switch op {
      case .busyWait, .meeting: true
      default: false
      }
    }
  }

  /// The factor by which the time limit of this program exceeds that of others. An engine may need
  /// seconds to start an item of a concurrent or global queue beside others that use all CPUs.
  public var slowness: Int {
    guard hasBusyWaits else { return 1 }
    let isShared = Hierarchies(self).isShared
    func usesShared(_ ops: [Op], _ isOnShared: Bool) -> Bool {
      ops.contains { op in
        switch op {
        case .busyWait(_, _, _, let polling): return isOnShared && polling.isHungry
        case .meeting(_, let polling, let members):
          if polling.isHungry && members.contains(where: { isShared[$0.queue] }) { return true }
        case .iterate(_, let items): return items.contains { usesShared($0.body, true) }
        case .notify(_, let queue, let item), .notifyItem(_, let queue, let item):
          return usesShared(item.body, isShared[queue])
        default: break
        }
        if op.submissions.isEmpty { return op.bodies.contains { usesShared($0, isOnShared) } }
        return op.submissions.contains { submission in
          let isInline = submission.way.isInline && isOnShared
          return usesShared(submission.item.body, isInline || isShared[submission.queue])
        }
      }
    }
    return drivers.contains { usesShared($0, false) } ? 8 : 2
  }
}
