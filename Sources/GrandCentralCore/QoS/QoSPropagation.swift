// Room: QoS/QoSPropagation. Which QoS goes where: pure functions, so that a table can test them.
//   submitter's thread ─captured→ node ─effective→ the running item's thread ─captured→ …
//                                  └─activation→ the lane as an item of its target
// Three sources, strongest first: the item's own when enforced, the queue's own, the item's. The
// item's is what the caller gave, or else the class of the code that submitted it, which is at most
// user-initiated: work that is handed on is no longer the user's touch itself.
// Source: dispatch/block.h, the descriptions of the block flags; contract rows P1–P3, P7.

@usableFromInline
enum QoSPropagation {
  /// What async() with neither QoS nor flags carries: the submitter's class, lowered.
  @inlinable @inline(__always)
  static func inferred(from current: PackedQoS) -> PackedQoS {
    // The band is the low byte; place in the band and enforcement are the submitter's own.
    PackedQoS(rawValue: min(current.rawValue & 0xff, UInt32(Band.userInitiated.rawValue)))
  }

  /// What work carries that is submitted with `explicit` and `flags` from a thread at `current`.
  static func captured(
    from current: PackedQoS, explicit: PackedQoS, flags: DispatchWorkItemFlags
  ) -> PackedQoS {
    let own: PackedQoS
    if explicit.band != .unspecified {
      own = explicit
    } else if !flags.isDisjoint(with: [.noQoS, .detached]) {
      // Nothing to enforce.
      return .unspecified
    } else {
      own = inferred(from: current)
    }
    return flags.contains(.enforceQoS) && own.band != .unspecified ? own.enforced : own
  }

  /// What an item runs at, and what its own submissions infer from, on a queue with `queue` of its
  /// own. Stays unspecified if neither says: the pool takes that as default.
  @inlinable
  static func effective(item: PackedQoS, queue: PackedQoS) -> PackedQoS {
    if queue.rawValue == 0 { return item }
    if item.isEnforced { return mostUrgent(item, queue) }
    return queue
  }

  /// What a lane carries to its target as an item, when `item` is first in line.
  /// An enforced item stays so, or a target with a QoS of its own would undo it.
  @inlinable
  static func activation(queue: PackedQoS, item: PackedQoS) -> PackedQoS {
    effective(item: item, queue: queue)
  }

  /// What an item runs at that is performed by hand, on a thread at `current`.
  static func performed(item: PackedQoS, on current: PackedQoS) -> PackedQoS {
    item.band == .unspecified ? current : mostUrgent(item, current)
  }

  /// The more urgent of two; enforced if that one is.
  @inlinable
  static func mostUrgent(_ left: PackedQoS, _ right: PackedQoS) -> PackedQoS {
    left.urgency >= right.urgency ? left : right
  }
}

extension PackedQoS {
  /// Orders by class, then by place in it.
  @inlinable
  var urgency: UInt32 { (rawValue & 0xff) << 4 | (15 - (rawValue >> 8 & 0xf)) }

  var enforced: PackedQoS { PackedQoS(rawValue: rawValue | 1 << 16) }
}
