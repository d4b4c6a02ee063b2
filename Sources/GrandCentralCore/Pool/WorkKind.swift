// Room: Pool/WorkKind. The kinds of nodes that the pool distinguishes, besides bands.
// Lanes that ask to be drained have local queues and injectors of their own, and workers alternate
// between the two kinds, so that neither delays the other.
// While many workers sleep (Pool.isStressed) lanes come first: items that fill the pool and sleep
// until a queue has done something must not keep that queue from running. Then a worker begins an
// item while a visible lane waits only at every fourth pick, or items would starve beside queues
// whose items sleep; and a worker made in place of a sleeping one, at its first picks, takes lanes
// from the local queues of others. So the threads that the pool gains drain lanes before they run
// items that may sleep; if all sleep nevertheless, lanes have the reserve (Pool+LaneReserve).

enum WorkKind: Int, CaseIterable {
  /// Client work of global queues, and of concurrent queues that have admitted it.
  case items
  /// Activations of lanes with work, and items of the overcommitting global queues.
  case lanes

  var other: WorkKind { self == .items ? .lanes : .items }

  /// The kind that a worker tries first at its nth pick.
  static func first(atPick pick: UInt32) -> WorkKind { pick & 1 == 1 ? .lanes : .items }

  /// The same while many workers sleep.
  static func firstUnderStress(atPick pick: UInt32) -> WorkKind { pick & 3 == 0 ? .items : .lanes }
}

extension WorkNode {
  /// The kind of the node.
  @inline(__always)
  var kind: WorkKind { traits.isDisjoint(with: [.lane, .overcommit]) ? .items : .lanes }
}
