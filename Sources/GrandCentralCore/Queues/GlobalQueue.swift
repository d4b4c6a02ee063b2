// Room: Queues/GlobalQueue. A root: what is submitted to it goes to the pool, in one band.

final class GlobalQueue: DispatchQueue, @unchecked Sendable {
  private let pool: Pool
  private let band: Band

  init(band: Band, pool: Pool) {
    self.band = band
    self.pool = pool
    super.init(root: Self.label(of: band), kind: .root, qos: PackedQoS(band: band))
  }

  /// The labels that programs and tools know. The root without a band is what serial queues target by default, which
  /// programs know by this label.
  private static func label(of band: Band) -> String {
    switch band {
    case .unspecified: "com.apple.root.default-qos.overcommit"
    case .background: "com.apple.root.background-qos"
    case .utility: "com.apple.root.utility-qos"
    case .default: "com.apple.root.default-qos"
    case .userInitiated: "com.apple.root.user-initiated-qos"
    case .userInteractive: "com.apple.root.user-interactive-qos"
    }
  }

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    var traits = node.traits
    let asked = traits.qos
    // An item's QoS yields to the root's. What a queue sends here, and an enforced one, can only be
    // raised: what the root hands down to the queue is in it already.
    let isItem = traits.isDisjoint(with: [.lane, .carried])
    if band != .unspecified && (isItem && !asked.isEnforced || asked.band < band) {
      traits = WorkTraits(qos: PackedQoS(band: band)).union(traits.intersection([.carried, .lane]))
      node.traits = traits
    }
    pool.submit(
      node, traits.contains(.lane) ? .lanes : .items, band: traits.qos.band, from: thread)
  }
}
