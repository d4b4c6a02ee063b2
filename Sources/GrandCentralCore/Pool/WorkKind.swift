// Room: Pool/WorkKind. The kinds of nodes that the pool distinguishes, besides bands.
// Lanes that ask to be drained have local queues and injectors of their own, and workers alternate
// between the two kinds, so that neither delays the other.
// While many workers sleep (Pool.isStressed) lanes come first: items that fill the pool and sleep
// until a queue has done something must not keep that queue from running. Then no worker begins an
// item while a visible lane waits, except for the rare turn that keeps items from starving; and a
// worker made in place of a sleeping one takes lanes from the local queues of others. So at any
// number of threads the last one awake drains lanes before it runs an item that may sleep.

enum WorkKind: Int, CaseIterable {
  /// Client work of global queues, and of concurrent queues that have admitted it.
  case items
  /// Activations of lanes with work, and items of the overcommitting global queues.
  case lanes

  var other: WorkKind { self == .items ? .lanes : .items }

  /// The kind that a worker tries first at its nth pick.
  static func first(atPick pick: UInt32) -> WorkKind { pick & 1 == 1 ? .lanes : .items }
}

extension WorkNode {
  /// The kind of the node.
  @inline(__always)
  var kind: WorkKind { traits.isDisjoint(with: [.lane, .overcommit]) ? .items : .lanes }
}
