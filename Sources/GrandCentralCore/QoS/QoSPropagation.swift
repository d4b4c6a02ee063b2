// Room: QoS/QoSPropagation. Which QoS goes where: pure functions, so that a table can test them.
//   submitter's thread ─captured→ node ─effective→ the running item's thread ─captured→ …
//                                  └─activation→ the lane as an item of its target
// Three sources, strongest first: the item's own when enforced, the queue's, the item's. The item's
// is what the caller gave, or else the class of the code that submitted it, which is at most
// user-initiated: work that is handed on is no longer the user's touch itself.
// The queue's is its own class; a queue without one has the class of the nearest target that has
// one, as if it were its own. That is how C programs give a queue a priority: its target is the
// global queue of a class. So a class that is handed down lowers an item, too.
// A floor is the least that a queue's items run at, and what the queue hands down. It raises and
// never lowers. Without a class above it, it is handed down as a floor. What ends on the main
// thread is handed down as enforced: nothing lowers that thread.
// A lane that asks to be drained is no item of its target: it brings what its own items need, and the
// target's QoS can only add to that.
// What is raised because more urgent work waits behind it (Lanes/Lane+Override) is not seen here: it
// neither changes what an item runs at nor what it hands on.
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
  /// own, or else with `inherited` from its targets. Stays unspecified if none says: the pool takes that
  /// as default.
  @inlinable @inline(__always)
  static func effective(
    item: PackedQoS, queue: PackedQoS, inherited: PackedQoS = .unspecified
  ) -> PackedQoS {
    if queue.rawValue | inherited.rawValue == 0 { return item }
    return effectiveInFull(item: item, queue: queue, inherited: inherited)
  }

  @usableFromInline
  static func effectiveInFull(
    item: PackedQoS, queue: PackedQoS, inherited: PackedQoS
  ) -> PackedQoS {
    if queue.rawValue == 0 { return ranked(item, on: inherited) }
    if queue.isFloor { return mostUrgent(ranked(item, on: inherited), queue.own) }
    let asked = ranked(item, on: queue)
    return inherited.isEnforced ? mostUrgent(asked, inherited) : asked
  }

  /// What an item runs at where `given` is the class, or the floor, of its queue.
  private static func ranked(_ item: PackedQoS, on given: PackedQoS) -> PackedQoS {
    if given.isFloor || item.isEnforced { return mostUrgent(item, given.own) }
    return given.rawValue == 0 ? item : given
  }

  /// What a lane that asks to be drained brings to a target with `queue` and `inherited`.
  static func activation(
    of lane: PackedQoS, queue: PackedQoS, inherited: PackedQoS
  ) -> PackedQoS {
    mostUrgent(mostUrgent(lane, queue.own), inherited.own)
  }

  /// What a queue hands down to the queues that target it: a class or a floor.
  static func handedDown(queue: PackedQoS, inherited: PackedQoS, isMain: Bool) -> PackedQoS {
    if isMain { return queue.enforced }
    if queue.rawValue == 0 { return inherited }
    if inherited.isEnforced { return mostUrgent(queue.own, inherited).enforced }
    if !queue.isFloor { return queue.own }
    // Above a floor there may be nothing, another floor, or a class, which the floor raises.
    let most = mostUrgent(queue.own, inherited.own)
    return inherited.rawValue == 0 || inherited.isFloor ? most.floor : most
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

  var enforced: PackedQoS { PackedQoS(rawValue: rawValue | 1 << 12) }
  var floor: PackedQoS { PackedQoS(rawValue: rawValue | 1 << 13) }
  /// The same, no floor.
  var own: PackedQoS { PackedQoS(rawValue: rawValue & ~(1 << 13)) }
}
