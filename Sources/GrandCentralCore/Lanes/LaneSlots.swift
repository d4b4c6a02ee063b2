// Room: Lanes/LaneSlots. A growing table of slots that never move: writing one takes no lock.
// A slot holds a lane's address, or an odd word that links to the next free slot. The lock guards
// the free list and the growth.
// Invariant: a slot that is not in the free list belongs to one holder: the thread that took it,
// then the lane that received it, then the thread that ends that lane. So each store into a slot
// happens after the one before, by the same synchronisation that passes any object on. Only the
// child of a fork reads the slots of others, and it has one thread.

struct LaneSlots: ~Copyable {
  /// No slot. The first slot of the table is 1.
  static var none: UInt32 { 0 }

  /// The content of a slot without a lane: one that a thread caches, or the end of the free list.
  static var unused: UInt64 { 1 }
  private static var firstChunk: UInt32 { 16 }
  /// How many chunks there can be. Each is twice as large as the one before it.
  private static var chunks: Int { 24 }

  struct Table {
    var made: UInt32 = none
    var free = none
  }

  private let lock = Lock()
  // Separate memory: changing a field through a pointer to the whole would be an access to the lock
  // too.
  let table: UnsafeMutablePointer<Table>
  /// The address of each chunk. Written once, under the lock, before any slot of the chunk is
  /// known.
  private let chunkAddresses: UnsafeMutablePointer<UnsafeMutablePointer<UInt64>?>

  init() {
    table = .allocate(capacity: 1)
    table.initialize(to: Table())
    chunkAddresses = .allocate(capacity: Self.chunks)
    chunkAddresses.initialize(repeating: nil, count: Self.chunks)
  }

  // SAFETY: allocated once for the life of the process, and never freed.

  private static func chunk(of slot: UInt32) -> (index: Int, offset: Int) {
    let number = slot + (firstChunk - 1)
    let index = number.leadingZeroBitCount ^ 31
    return (index - firstChunk.trailingZeroBitCount, Int(number) - 1 << index)
  }

  /// The address of a slot, which never changes.
  func word(of slot: UInt32) -> UnsafeMutablePointer<UInt64> {
    let (chunk, offset) = Self.chunk(of: slot)
    return chunkAddresses[chunk].unsafelyUnwrapped + offset
  }

  /// Takes a slot for the caller alone.
  func take() -> UInt32 {
    lock.withLock {
      let slot = table.pointee.free
      if slot == Self.none { return grow() }
      table.pointee.free = UInt32(truncatingIfNeeded: word(of: slot).pointee >> 1)
      word(of: slot).pointee = Self.unused
      return slot
    }
  }

  /// Adds a slot. With the lock held.
  private func grow() -> UInt32 {
    let slot = table.pointee.made + 1
    let (chunk, offset) = Self.chunk(of: slot)
    if offset == 0 {
      // No check for a full table: it would exceed the memory of any machine.
      let count = Int(Self.firstChunk) << chunk
      let made = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
      made.initialize(repeating: Self.unused, count: count)
      chunkAddresses[chunk] = made
    }
    table.pointee.made = slot
    return slot
  }

  /// Returns the caller's slot to the free list.
  func give(_ slot: UInt32) {
    lock.withLock {
      word(of: slot).pointee = UInt64(table.pointee.free) << 1 | 1
      table.pointee.free = slot
    }
  }
}
