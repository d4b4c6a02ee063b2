// Room: Lanes/LanePlaces. A table of places that grows and never moves: a place is written without its lock.
// A place holds a lane's address or, in an odd number, the next free place and so on. The lock guards the list of free
// places and the growing. A place that is in no list is its holder's alone: whoever took it out, then the lane that it was
// given to, then whoever ends that lane. So each store into it happens after the one before, as what is done with any
// object that is handed on; and nobody reads it but a child of fork, which is alone.

struct LanePlaces: ~Copyable {
  /// No place at all. The table's first is 1.
  static var none: UInt32 { 0 }

  /// What is in a place that no lane has: one that some thread keeps, or that ends the list.
  static var unused: UInt64 { 1 }
  private static var firstChunk: UInt32 { 16 }
  /// Each twice as large as the one before it.
  private static var chunks: Int { 24 }

  private struct Table {
    var made: UInt32 = none
    var free = none
  }

  private let lock = Lock()
  // Memory of its own: to change a field of what a pointer leads to is an access to all of it, the lock too.
  private let table: UnsafeMutablePointer<Table>
  /// A chunk's address is written once, under the lock, before any of its places is known.
  private let chunkAddresses: UnsafeMutablePointer<UnsafeMutablePointer<UInt64>?>

  init() {
    table = .allocate(capacity: 1)
    table.initialize(to: Table())
    chunkAddresses = .allocate(capacity: Self.chunks)
    chunkAddresses.initialize(repeating: nil, count: Self.chunks)
  }

  // SAFETY: made once for the life of the process, so nothing is returned.

  private static func chunk(of place: UInt32) -> (index: Int, offset: Int) {
    let number = place + (firstChunk - 1)
    let index = number.leadingZeroBitCount ^ 31
    return (index - firstChunk.trailingZeroBitCount, Int(number) - 1 << index)
  }

  /// Where a place is, for ever.
  func word(of place: UInt32) -> UnsafeMutablePointer<UInt64> {
    let (chunk, offset) = Self.chunk(of: place)
    return chunkAddresses[chunk].unsafelyUnwrapped + offset
  }

  /// A place for the caller alone.
  func take() -> UInt32 {
    lock.withLock {
      let place = table.pointee.free
      if place == Self.none { return grow() }
      table.pointee.free = UInt32(truncatingIfNeeded: word(of: place).pointee >> 1)
      word(of: place).pointee = Self.unused
      return place
    }
  }

  /// With the lock held.
  private func grow() -> UInt32 {
    let place = table.pointee.made + 1
    let (chunk, offset) = Self.chunk(of: place)
    if offset == 0 {
      // A table that is full would be larger than any machine's memory.
      let count = Int(Self.firstChunk) << chunk
      let made = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
      made.initialize(repeating: Self.unused, count: count)
      chunkAddresses[chunk] = made
    }
    table.pointee.made = place
    return place
  }

  /// The caller's place is free for anybody.
  func give(_ place: UInt32) {
    lock.withLock {
      word(of: place).pointee = UInt64(table.pointee.free) << 1 | 1
      table.pointee.free = place
    }
  }

  /// In a child that was forked, where nobody else is: each address. Whose it is may come to clear its place.
  func visit(_ body: (UInt64) -> Void) {
    var place: UInt32 = 0
    // By number, and looked up anew: whoever is visited may make others.
    while place < table.pointee.made {
      place += 1
      let address = word(of: place).pointee
      if address & 1 == 0 { body(address) }
    }
  }
}
