// Room: Pool/WorkKind. What a node is to the pool, besides its band.
// Lanes that ask to be drained have rings and injectors of their own, and workers look at the two kinds in
// turn, so that neither keeps the other waiting.
// While many workers sleep (Pool.isStressed) lanes come first: items that fill the pool and then sleep
// until a queue has done something must not keep that queue from running. But for the odd turn that keeps
// items from starving, no worker then begins one while a lane asks where all can see it, and a worker made in place of one that sleeps looks for lanes in
// the rings of the others. So at any number of threads the last one awake drains queues before it goes to
// sleep over an item.

enum WorkKind: Int, CaseIterable {
  /// Client work of global queues, and of concurrent queues once they have let it pass.
  case items
  /// Activations: lanes with work that asked to be drained; and items of the global queues that
  /// overcommit.
  case lanes

  var other: WorkKind { self == .items ? .lanes : .items }

  /// Which kind a worker looks at first, at its nth pick.
  static func first(atPick pick: UInt32) -> WorkKind { pick & 1 == 1 ? .lanes : .items }
}

extension WorkNode {
  /// What the node is to the pool.
  @inline(__always)
  var kind: WorkKind { traits.isDisjoint(with: [.lane, .overcommit]) ? .items : .lanes }
}

/// Where the work of one kind and band waits when it is not in a ring.
struct Source: Equatable {
  let kind: WorkKind
  let band: Band

  /// Its place among the injectors, and its bit in `sourcesWaiting`.
  var index: Int { kind.rawValue * 8 + Int(band.rawValue) }
  static var count: Int { 16 }
  var bit: UInt32 { 1 << UInt32(index) }
  /// The bits of all that there can be: two kinds in five bands.
  static var all: UInt32 { 0b0011_1110_0011_1110 }
}
