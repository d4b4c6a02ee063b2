// Room: Reactor/TimerEntry. Something due at a time: a lane to notify, or a node to submit.
//   idle ─arm→ armed ─its time comes, disarm→ idle
// The heaps keep the times, and the owner of the entry keeps what it wants: see TimerSetting.
// Invariant: the lock of its Timers guards all of it. An entry is 16 bytes of memory from the store
// of its Timers, and not an object: programs make a timeout for each request, and an object would
// be most of its cost.

struct TimerEntry {
  enum Kind: UInt {
    /// Not in use; in the store's free list.
    case none = 0
    /// A lane, not retained. The lane puts its entry back before it ends, under the lock. So the
    /// lane's memory is valid while the lock is held, and `tryRetain` says whether the lane is
    /// still alive.
    case lane = 4
    /// A node. Its carrier is the queue that it goes to, retained.
    case work = 8
  }

  private static let armed: UInt = 1
  private static let leeway: UInt = 2
  private static let bits: UInt = 15

  /// The address of the receiver, a multiple of 16; below it the kind, and two flags.
  private var word: UInt
  /// The positions in the two heaps.
  var placeByTarget: UInt32 = 0
  var placeByLatest: UInt32 = 0

  init(receiver: UnsafeMutableRawPointer?, kind: Kind) {
    invariant(UInt(bitPattern: receiver) & Self.bits == 0, "A timer's receiver is not aligned.")
    word = UInt(bitPattern: receiver) | kind.rawValue
  }

  /// The lane or the node; in an unused entry, the next one of the free list.
  var receiver: UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: word & ~Self.bits)
  }

  var kind: Kind {
    switch word & (Kind.lane.rawValue | Kind.work.rawValue) {
    case Kind.lane.rawValue: .lane
    case Kind.work.rawValue: .work
    default: .none
    }
  }

  /// Whether it is in the heaps.
  var isArmed: Bool { word & Self.armed != 0 }
  /// Whether it can wait for other timers. Only then is it in both heaps.
  var hasLeeway: Bool { word & Self.leeway != 0 }

  mutating func arm(hasLeeway: Bool) {
    word = word & ~Self.leeway | Self.armed | (hasLeeway ? Self.leeway : 0)
  }

  mutating func disarm() { word &= ~Self.armed }

  /// The latest time to fire at: a timer may wait for others from its target to this time, so that
  /// one wake-up serves them all.
  static func latest(_ target: UInt64, leeway: UInt64) -> UInt64 {
    let (latest, overflows) = target.addingReportingOverflow(leeway)
    return overflows ? .max : latest
  }
}

typealias TimerHandle = UnsafeMutablePointer<TimerEntry>

/// Allocates entries. Guarded by the lock of its Timers. Its memory is never returned before it
/// ends.
final class TimerStore {
  @Cell private var free: TimerHandle? = nil
  @Cell private var blocks: [TimerHandle] = []
  private static var blockCount: Int { scaled(256, inModels: 4) }

  func take(_ receiver: UnsafeMutableRawPointer, _ kind: TimerEntry.Kind) -> TimerHandle {
    let taken = free ?? addBlock()
    free = taken.pointee.receiver?.assumingMemoryBound(to: TimerEntry.self)
    taken.pointee = TimerEntry(receiver: receiver, kind: kind)
    return taken
  }

  func put(_ entry: TimerHandle) {
    entry.pointee = TimerEntry(receiver: UnsafeMutableRawPointer(free), kind: .none)
    free = entry
  }

  /// Adds a block of free entries, and returns the first one.
  private func addBlock() -> TimerHandle {
    let block = TimerHandle.allocate(capacity: Self.blockCount)
    blocks.append(block)
    for index in (0..<Self.blockCount).reversed() { put(block + index) }
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
