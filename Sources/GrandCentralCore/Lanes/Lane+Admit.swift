// Room: Lanes/Lane+Admit. Shared items of a concurrent lane: they are counted as running, and sent
// to the target without a drain of theirs. One that finds the lane open passes at once. One that
// has waited is counted by the owner, with those right behind it.
import CGrandCentralLinux

extension Lane {
  /// Counts this shared node as running, and with an item as many items as come directly after it
  /// and have room. Returns their number, and whether many were running before; `nil`: the width is
  /// used up.
  final func countRunning(from node: WorkNode) -> (counted: Int, hasMany: Bool)? {
    let areItems = !node.traits.contains(.waiter)
    let count = areItems ? 1 + sharedItemsWithRoom() : 1
    // acquiring: the writes of the holders that left and made room. With a width of one, the next
    // holder may rely on them.
    let counted = state.transition(.acquiring) { seen in
      seen.admitted(count, areItems: areItems, width: admissionLimit).map { next, admitted in
        (next, (admitted, seen.running, holdsSelf: next.isHeld && !seen.isHeld))
      }
    }
    guard let (admitted, before, holdsSelf) = counted else { return nil }
    if holdsSelf { _ = Unmanaged.passRetained(self) }
    return (admitted, before > Tuning.manyRunning)
  }

  /// How many shared items the private list begins with, as far as there is room for them and one
  /// more.
  private final func sharedItemsWithRoom() -> Int {
    // relaxed: a guess that saves the walk; the exchange re-checks.
    let room = admissionLimit - state.load(ordering: .relaxed).running
    let most = min(room, Tuning.maxCountedAtOnce) - 1
    var (count, next) = (0, batch)
    while count < most, let node = next, node.traits.isDisjoint(with: [.barrier, .waiter]) {
      count += 1
      next = node.next
    }
    return count
  }

  // MARK: Sending

  /// Sends a shared item that has not waited, already counted as running, straight to the target.
  final func sendAdmitted(_ node: WorkNode, from thread: ThreadContext) {
    // Refreshed here, since a lane whose items all pass is never drained.
    readInherited()
    let sent = counted(node, from: thread)
    withTarget { $0.forward(sent, from: thread) }
  }

  /// Sends the first `count` nodes of a list: shared items that were queued, all counted as
  /// running. A root gets those of one QoS together. `isBehindMany`: the lane has many others in
  /// the pool. Returns the rest of the list.
  final func sendAdmitted(
    _ oldest: WorkNode, count: Int, isBehindMany: Bool, from thread: ThreadContext
  ) -> WorkNode? {
    readInherited()
    var rest: WorkNode? = oldest
    var group: NodeGroup?
    for _ in 0..<count {
      guard let node = rest else { engineFault("A list of nodes is shorter than its count.") }
      rest = node.next
      let sent = counted(node, from: thread)
      sent.next = nil
      if group?.append(sent) == true { continue }
      if let group { forward(group, isBehindMany, from: thread) }
      group = NodeGroup(of: sent)
    }
    if let group { forward(group, isBehindMany, from: thread) }
    return rest
  }

  private final func forward(
    _ group: NodeGroup, _ isBehindMany: Bool, from thread: ThreadContext
  ) {
    withTarget { target in
      if target.kind == .root {
        target.submitToRoot(
          group.oldest, count: group.count, isBehindMany: isBehindMany, from: thread)
      } else {
        var rest: WorkNode? = group.oldest
        while let node = rest {
          rest = node.next
          target.forward(node, from: thread)
        }
      }
    }
  }

  /// Marks a shared item as counted by this lane, and returns the node to send for it.
  @inline(__always)
  private final func counted(_ node: WorkNode, from thread: ThreadContext) -> WorkNode {
    var sent = node
    var kept = node.traits.intersection(.sampled)
    if node.traits.contains(.carried) {
      kept = .wrapper
      // The node already carries the count of a lane below this one: wrap it in another node.
      sent = NodeCache.take(thread)
      sent.entry = Self.wrappedEntry
      sent.companion = node.raw
    }
    let qos = effectiveQoS(node.traits)
    sent.traits = WorkTraits(qos: qos).union(.carried).union(kept)
    sent.carrier = address
    return sent
  }

  /// Runs the wrapped node, which has its own carrier.
  private static let wrappedEntry: WorkNode.Entry = { raw, thread in
    let node = WorkNode(raw)
    let inner = node.companion.unsafelyUnwrapped
    NodeCache.put(node, thread)
    WorkNode(inner).run(on: thread)
  }
}

/// Nodes of one QoS, from the oldest to the newest.
private struct NodeGroup {
  let oldest: WorkNode
  private var newest: WorkNode
  private(set) var count = 1

  init(of node: WorkNode) { (oldest, newest) = (node, node) }

  /// Appends the node; false if its QoS is another.
  mutating func append(_ node: WorkNode) -> Bool {
    guard node.traits.qos == newest.traits.qos else { return false }
    newest.next = node
    newest = node
    count += 1
    return true
  }
}
