// Room: Reactor/TimerEntry. Something due at a time: a lane to notify, or a node to submit.
//   idle ─arm→ armed ─its time comes→ fired ─arm→ armed        armed, fired ─disarm→ idle
// Invariant: the lock of its Timers guards all of it. An entry is 40 bytes of memory from the store
// of its Timers, and not an object: programs make a timeout for each request, and an object would
// be most of its cost.

struct TimerEntry {
  enum State: UInt8 { case idle, armed, fired }
  enum Kind: UInt8 {
    /// A lane, not retained. The lane puts its entry back before it dies, under the lock. So the
    /// lane's memory is valid while the lock is held, and `tryRetain` says whether the lane is
    /// still alive.
    case lane
    /// A node. Its carrier is the queue that it goes to, retained.
    case work
    /// Not in use; in the store's free list.
    case none
  }

  /// The earliest time to fire at.
  var target: UInt64
  /// The latest time to fire at. Between the two, the timer may wait for others, so that one
  /// wake-up serves them all.
  var latest: UInt64
  /// The lane or the node; in an unused entry, the next one of the free list.
  var receiver: UnsafeMutableRawPointer?
  /// The positions in the two heaps.
  var placeByTarget: UInt32 = 0
  var placeByLatest: UInt32 = 0
  var state = State.idle
  var kind: Kind

  /// Whether it can wait for other timers. Only then is it in both heaps.
  var hasLeeway: Bool { latest > target }
}

typealias TimerHandle = UnsafeMutablePointer<TimerEntry>

/// Allocates entries. Guarded by the lock of its Timers. Its memory is never returned before it
/// dies.
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

  /// Adds a block of free entries, and returns the first one.
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
