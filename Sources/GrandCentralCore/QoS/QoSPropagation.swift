// Room: QoS/QoSPropagation. A QoS as one value, and which QoS applies where: pure functions, so
// that a table can test them.
//   submitter's thread ─captured→ node ─effective→ the running item's thread ─captured→ …
//                                  └─activation→ the lane as an item of its target
// Three sources, strongest first: the item's QoS if enforced, the queue's, the item's.
// The item's QoS is what the caller gave, otherwise the class of the submitting code, limited to
// user-initiated: work that is passed on is no longer the user's touch itself.
// The queue's QoS is its own class. A queue without a class uses that of the nearest target with
// one, as if it were its own. That is how C programs give a queue a priority: they target the
// global queue of a class. So an inherited class can also lower an item.
// A floor is the minimum for a queue's items, and for what the queue hands down. It raises and
// never lowers. Without a class above it, it is handed down as a floor.
// A hierarchy that ends on the main thread hands down its QoS as enforced: nothing lowers that
// thread.
// A lane that asks for a drain is not an item of its target. It contributes what its own items
// need, and the target's QoS can only add to that.
// A boost on behalf of waiting work (Lanes/Lane+Override) is not part of this: it changes neither
// what an item runs at nor what it passes on.
// Source: dispatch/block.h, the descriptions of the block flags; contract rows P1–P3, P7.

@usableFromInline
enum QoSPropagation {
  /// The QoS that async() without QoS and flags carries: the submitter's class, limited to
  /// user-initiated.
  @inlinable @inline(__always)
  static func inferred(from current: PackedQoS) -> PackedQoS {
    // The band is the low byte. Relative priority and enforcement are not passed on.
    PackedQoS(rawValue: min(current.rawValue & 0xff, UInt32(Band.userInitiated.rawValue)))
  }

  /// The QoS of work that is submitted with `explicit` and `flags` from a thread at `current`.
  static func captured(
    from current: PackedQoS, explicit: PackedQoS, flags: DispatchWorkItemFlags
  ) -> PackedQoS {
    let own: PackedQoS
    if explicit.band != .unspecified {
      own = explicit
    } else if !flags.isDisjoint(with: [.noQoS, .detached]) {
      // No QoS, so nothing to enforce.
      return .unspecified
    } else {
      own = inferred(from: current)
    }
    return flags.contains(.enforceQoS) && own.band != .unspecified ? own.enforced : own
  }

  /// The QoS at which an item runs, and from which its own submissions infer theirs. `queue`: the
  /// queue's own; `inherited`: that of its targets. Unspecified if none is given, which the pool
  /// treats as default.
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

  /// The QoS of an item on a queue whose class, or floor, is `given`.
  private static func ranked(_ item: PackedQoS, on given: PackedQoS) -> PackedQoS {
    if given.isFloor || item.isEnforced { return mostUrgent(item, given.own) }
    return given.rawValue == 0 ? item : given
  }

  /// The QoS that a lane which asks for a drain contributes to a target with `queue` and
  /// `inherited`.
  static func activation(
    of lane: PackedQoS, queue: PackedQoS, inherited: PackedQoS
  ) -> PackedQoS {
    mostUrgent(mostUrgent(lane, queue.own), inherited.own)
  }

  /// The class or floor that a queue hands down to the queues that target it.
  static func handedDown(queue: PackedQoS, inherited: PackedQoS, isMain: Bool) -> PackedQoS {
    if isMain && queue.rawValue != 0 { return queue.enforced }
    if queue.rawValue == 0 { return inherited }
    if inherited.isEnforced { return mostUrgent(queue.own, inherited).enforced }
    if !queue.isFloor { return queue.own }
    // Above a floor there may be nothing, another floor, or a class that the floor raises.
    let most = mostUrgent(queue.own, inherited.own)
    return inherited.rawValue == 0 || inherited.isFloor ? most.floor : most
  }

  /// The QoS of an item that is called directly with perform(), on a thread at `current`.
  static func performed(item: PackedQoS, on current: PackedQoS) -> PackedQoS {
    item.band == .unspecified ? current : mostUrgent(item, current)
  }

  /// The more urgent of the two, enforced only if that one is.
  @inlinable
  static func mostUrgent(_ left: PackedQoS, _ right: PackedQoS) -> PackedQoS {
    left.urgency >= right.urgency ? left : right
  }
}

// MARK: A QoS as one value

/// The QoS classes as small numbers, in ascending order of urgency; 0 means unspecified.
@usableFromInline
enum Band: UInt8, CaseIterable, Comparable, Sendable {
  case unspecified = 0
  case background, utility, `default`, userInitiated, userInteractive

  @inlinable
  static func < (left: Band, right: Band) -> Bool { left.rawValue < right.rawValue }

  /// The band for comparisons: unspecified counts as default.
  @inlinable @inline(__always)
  var rank: Band { self == .unspecified ? .default : self }

  /// The class in words, as labels of global queues have it; unspecified counts as default.
  var name: String {
    switch self {
    case .unspecified, .default: "default"
    case .background: "background"
    case .utility: "utility"
    case .userInitiated: "user-initiated"
    case .userInteractive: "user-interactive"
    }
  }
}

/// A quality of service as one 32-bit value, for nodes and threads. Lanes keep the lower half,
/// which holds all of it.
///   7…0 band │ 11…8 relative priority, as its magnitude 0…15 │ 12 enforced │ 13 floor, for queues
@usableFromInline
struct PackedQoS: RawRepresentable, Hashable, Sendable {
  @usableFromInline let rawValue: UInt32
  @inlinable init(rawValue: UInt32) { self.rawValue = rawValue }

  @usableFromInline static let unspecified = PackedQoS(rawValue: 0)

  init(band: Band, relativePriority: Int = 0, isEnforced: Bool = false) {
    rawValue =
      UInt32(band.rawValue) | UInt32(min(15, relativePriority.magnitude)) << 8
      | (isEnforced ? 1 << 12 : 0)
  }

  init(halfWord: UInt16) { self.init(rawValue: UInt32(halfWord)) }
  var halfWord: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

  @inlinable @inline(__always)
  var band: Band { Band(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .unspecified }
  /// The band for comparisons: see `Band`.
  @inlinable @inline(__always)
  var rank: Band { band.rank }
  /// From 0, the most urgent of the band, down to -15.
  var relativePriority: Int { -Int(rawValue >> 8 & 0xf) }
  @inlinable
  var isEnforced: Bool { rawValue >> 12 & 1 == 1 }
  /// Whether this is a queue's floor, the minimum for its items, rather than its class.
  var isFloor: Bool { rawValue >> 13 & 1 == 1 }
}

extension PackedQoS {
  /// A number that orders by class, then by relative priority.
  @inlinable
  var urgency: UInt32 { (rawValue & 0xff) << 4 | (15 - (rawValue >> 8 & 0xf)) }

  var enforced: PackedQoS { PackedQoS(rawValue: rawValue | 1 << 12) }
  var floor: PackedQoS { PackedQoS(rawValue: rawValue | 1 << 13) }
  /// The same QoS, without the floor mark.
  var own: PackedQoS { PackedQoS(rawValue: rawValue & ~(1 << 13)) }
}
