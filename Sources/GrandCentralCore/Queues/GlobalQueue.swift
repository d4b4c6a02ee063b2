// Room: Queues/GlobalQueue. A root queue: it submits nodes to the pool, in one band.

final class GlobalQueue: DispatchQueue, @unchecked Sendable {
  private let pool: Pool
  private let band: Band
  /// Whether items submitted directly to this queue start beyond the width. Activations of serial
  /// queues do so anyway.
  private let overcommits: Bool

  init(band: Band, overcommits: Bool = false, pool: Pool) {
    self.band = band
    self.overcommits = overcommits
    self.pool = pool
    super.init(
      root: Self.label(of: band, overcommits: overcommits), kind: .root, qos: PackedQoS(band: band))
  }

  /// Returns the customary label of a root. The root without a band is the default target of serial
  /// queues; its customary label is that of the default class with overcommit.
  private static func label(of band: Band, overcommits: Bool) -> String {
    let suffix = overcommits || band == .unspecified ? ".overcommit" : ""
    return "com.apple.root.\(band.name)-qos\(suffix)"
  }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    let traits = adopt(node)
    pool.submit(node, node.kind, band: traits.qos.band, from: thread)
  }

  override func submitToRoot(
    _ oldest: WorkNode, count: Int, isBehindMany: Bool, from thread: ThreadContext
  ) {
    var next: WorkNode? = oldest
    while let node = next {
      _ = adopt(node)
      next = node.next
    }
    pool.submit(
      oldest, count: count, isBehindMany: isBehindMany, oldest.kind,
      band: oldest.traits.qos.band, from: thread)
  }

  /// Gives the node the traits that it has on this root, and returns them.
  @inline(__always)
  private func adopt(_ node: WorkNode) -> WorkTraits {
    var traits = node.traits
    let asked = traits.qos
    // The root's class replaces an item's own, but only raises an enforced class. It also only
    // raises the class of a node that another queue sends, which includes what the root hands down
    // to it.
    let isItem = traits.isDisjoint(with: [.lane, .carried])
    if band != .unspecified && (isItem && !asked.isEnforced || asked.band < band) {
      traits = WorkTraits(qos: PackedQoS(band: band))
        .union(traits.intersection([.carried, .lane, .wrapper, .sampled]))
      node.traits = traits
    }
    if overcommits && !traits.contains(.lane) {
      traits.insert(.overcommit)
      node.traits = traits
    }
    return traits
  }
}
