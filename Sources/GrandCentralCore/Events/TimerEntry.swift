// Room: Events/TimerEntry. Something that is due at a time: a lane that waits for it, or work for later.
//   idle ─arm→ armed ─its time comes→ fired ─arm→ armed        armed, fired ─disarm→ idle
// Memory of its own, 40 bytes from the store of the Timers that it is with, and all of it guarded by their lock. Not an
// object: a timeout is made for each request, and most of what that would cost is the object.

struct TimerEntry {
  enum State: UInt8 { case idle, armed, fired }
  enum Kind: UInt8 {
    /// A lane, not retained: it takes its entry back before it dies, under the lock. So while that is held the lane's
    /// memory is there, and `tryRetain` says whether it still lives.
    case lane
    /// A node, with the queue it goes to, retained, for its carrier.
    case work
    /// In the store.
    case none
  }

  /// Not before.
  var target: UInt64
  /// Not much after: between the two it may wait for others, so that one wake-up serves them all.
  var latest: UInt64
  /// A lane or a node. In an entry that is not in use: the next one of those.
  var receiver: UnsafeMutableRawPointer?
  /// Where it is in the two heaps.
  var placeByTarget: UInt32 = 0
  var placeByLatest: UInt32 = 0
  var state = State.idle
  var kind: Kind

  /// Whether it can wait for others; in both heaps only then.
  var hasLeeway: Bool { latest > target }
}

typealias TimerHandle = UnsafeMutablePointer<TimerEntry>

/// Where entries come from. Guarded by the lock of its Timers. What was ever needed is kept.
final class TimerStore {
  @Cell private var free: TimerHandle? = nil
  @Cell private var blocks: [TimerHandle] = []
  private static var blockCount: Int { scaled(256, inModels: 4) }

  func take(_ receiver: UnsafeMutableRawPointer, _ kind: TimerEntry.Kind) -> TimerHandle {
    let taken = free ?? addBlock()
    free = taken.pointee.receiver?.assumingMemoryBound(to: TimerEntry.self)
    taken.pointee = TimerEntry(target: .max, latest: .max, receiver: receiver, kind: kind)
    return taken
  }

  func put(_ entry: TimerHandle) {
    entry.pointee.kind = .none
    entry.pointee.receiver = UnsafeMutableRawPointer(free)
    free = entry
  }

  /// The first that is free then.
  private func addBlock() -> TimerHandle {
    let block = TimerHandle.allocate(capacity: Self.blockCount)
    blocks.append(block)
    for index in (0..<Self.blockCount).reversed() {
      (block + index).initialize(
        to: TimerEntry(target: .max, latest: .max, receiver: nil, kind: .none))
      put(block + index)
    }
    return block
  }

  /// Calls `body` for each lane that has an entry.
  func visitLanes(_ body: (Unmanaged<Lane>) -> Void) {
    for block in blocks {
      for index in 0..<Self.blockCount where block[index].kind == .lane {
        // SAFETY: see TimerEntry.Kind.
        if let lane = block[index].receiver { body(Unmanaged.fromOpaque(lane)) }
      }
    }
  }

  deinit { for block in $blocks { block.deallocate() } }
}
