// Room: Lanes/Lane+Fork. Lanes in a forked child.
// The child has one thread and no queued work, which the parent runs. A lane keeps what this thread
// holds of it (LaneHolds). All other holders are gone, with their owner words, their places in line
// and their activations.
// A thread of the parent may have set the `held` flag and not yet retained the lane, which the
// child cannot see. So the child retains a lane that stays held once more. Such a lane may never
// die; that is the price of safety in the child.
import CGrandCentralLinux

extension Lane {
  /// Resets the lane in a forked child. Called by the child's only thread.
  final func afterFork(_ holds: LaneHolds) {
    dropEvents()
    if kind == .root { return }
    // Most lanes are idle. Without a write their memory stays shared with the parent, and the child
    // of a program with many queues copies no pages.
    if batch != nil { batch = nil }
    let isOwned = holds.isOwner(of: self)
    if !isOwned && owner.load(ordering: .relaxed) != 0 { owner.store(0, ordering: .relaxed) }
    // The nodes that asked for a drain are gone.
    let asked = drainRequests.load(ordering: .relaxed)
    if asked != asked.afterFork() { drainRequests.store(asked.afterFork(), ordering: .relaxed) }
    let seen = state.load(ordering: .relaxed)
    let next = seen.afterFork(
      isOwned: isOwned, running: holds.count(on: self),
      targetsLane: target.map { $0.kind != .root } ?? false)
    if next.isHeld { _ = Unmanaged.passRetained(self) }
    if next != seen { state.store(next, ordering: .relaxed) }
  }
}

extension LaneState {
  /// The word in a forked child, where no other thread exists and nothing is queued. `isOwned`: the
  /// surviving thread holds the lane alone. `running`: how many permits it holds.
  func afterFork(isOwned: Bool, running: Int, targetsLane: Bool) -> LaneState {
    var next =
      rawValue & (Self.suspended | Self.counted | Self.bound) | (targetsLane ? Self.targeted : 0)
    if isOwned { next |= Self.locked }
    next += UInt64(running) * Self.oneRunning
    if isOwned || running > 0 { next |= rawValue & Self.held }
    return LaneState(rawValue: next)
  }
}

extension DrainRequests {
  /// The word in a forked child: no drain is requested.
  fileprivate func afterFork() -> DrainRequests {
    DrainRequests(rawValue: UInt64(generation) << 32)
  }
}

extension LaneHolds {
  /// Finds what `thread` would hold inside `lane`, so that the code has run once before a fork: see
  /// ForkParticipant. No other thread knows the lane.
  static func rehearse(on lane: Lane, by thread: ThreadContext) {
    lane.withFrame(thread) {
      var holds = LaneHolds(of: thread)
      holds.addShared(lane)
      holds.addTargets(of: lane)
      _ = (holds.isOwner(of: lane), holds.count(on: lane))
    }
  }
}

// MARK: The registry

extension LaneRegistry {
  typealias Visitor = (Unmanaged<Lane>) -> Void
  private static let annexes = Annexes()

  /// Writes a slot while no fork can happen.
  @inline(__always)
  static func put(
    _ content: UInt64, into word: UnsafeMutablePointer<UInt64>, on thread: ThreadContext
  ) {
    ForkGate.enter(thread)
    word.pointee = content
    ForkGate.leave(thread)
  }

  /// Registers an annex: `visit` passes each of its lanes to the visitor.
  static func add(annex visit: @escaping @Sendable (Visitor) -> Void) {
    // A first run before any fork: see ForkParticipant.
    visit { _ in }
    annexes.lock.withLock { annexes.all.append(visit) }
  }

  /// Calls `body` with each lane. In a forked child, by its only thread. Some lanes may have no
  /// reference left.
  static func visitAll(_ body: Visitor) {
    for index in 0..<tableCount {
      tables[index].visit { address in
        guard let raw = UnsafeRawPointer(bitPattern: UInt(address)) else { return }
        // SAFETY: a lane takes its address out before its memory is freed.
        body(Unmanaged.fromOpaque(raw))
      }
    }
    for visit in annexes.lock.withLock({ annexes.all }) { visit(body) }
  }
}

extension LaneSlots {
  /// Calls `body` with each address. `body` may clear the slot.
  func visit(_ body: (UInt64) -> Void) {
    var slot: UInt32 = 0
    // By number, and looked up each time: `body` may add slots.
    while slot < table.pointee.made {
      slot += 1
      let address = word(of: slot).pointee
      if address & 1 == 0 { body(address) }
    }
  }
}

/// The lists of lanes that have no slot.
private final class Annexes: @unchecked Sendable {
  let lock = Lock()
  /// Guarded by the lock.
  var all: [@Sendable (LaneRegistry.Visitor) -> Void] = []
}
