// Room: Data/DataNode. The tree under data of more than one piece.
// A B-tree by position: a leaf (height 0) lists pieces of buffers, a branch lists nodes one lower, and each
// slot says where it ends, counted from its node's first byte. So a look-up is a search by halves in each of a
// few nodes, and appending at the right edge changes the last slot's end on each level and nothing else.
//
//   slot = object │ first byte, or nil in a branch │ end
//   node = header: height, slots in use, room │ word: a flat copy of all bytes, or 0 │ slots…
//
// Invariant: every node has at most 32 slots; every node but the root at least 8, the root at least 2; no slot
// is empty; all leaves have the same depth. So n pieces are at most log8(n) + 1 high, and the deinit of a value
// goes that deep and no deeper, however many pieces die.
//
// Nodes are shared between values. One that is uniquely referenced, all the way from its root, is changed in
// place; others are copied first. Everything that changes nodes therefore works on the place where a reference
// stands, and nobody reads a node without holding its root.
//
// At least a quarter full, not half: appending at an edge then leaves nodes behind that are three quarters full.
// Rejected: a balanced binary tree (a node for each piece, five times the depth), and keeping the window of a
// subrange instead of cutting the tree (a byte of a value would keep all its buffers).

import CLinux

/// One entry of a node.
struct DataSlot {
  /// What owns the piece's bytes, or the child. First, so that a slot's place is its object's.
  var object: AnyObject
  var base: UnsafePointer<UInt8>?
  /// Outside of a node: how many bytes. In a node: where they end in it.
  var end: Int

  init(object: AnyObject, base: UnsafePointer<UInt8>?, end: Int) {
    self.object = object
    self.base = base
    self.end = end
  }

  /// A child, not yet in a node.
  init(_ node: DataNode) {
    self.init(object: node, base: nil, end: NodeReference(node).bytes)
  }
}

struct DataNodeHeader {
  var height: Int
  var count: Int
  var room: Int
}

/// The word before the slots; also the unit in which a node's tail is counted.
struct DataNodeWord: ~Copyable {
  /// An owned reference to OwnBytes, or 0.
  let flat = Atomic<UInt>(0)
}

final class DataNode: ManagedBuffer<DataNodeHeader, DataNodeWord> {
  static var mostSlots: Int { 32 }
  static var leastSlots: Int { 8 }

  /// A node without slots, and with room for at least `room`.
  static func make(height: Int, room: Int) -> DataNode {
    // The next power of two, at least 4.
    let rounded = 1 &<< (Int.bitWidth - (max(room, 4) - 1).leadingZeroBitCount)
    let words = 1 + rounded * MemoryLayout<DataSlot>.stride / MemoryLayout<UInt>.stride
    let made = create(minimumCapacity: words) { _ in
      DataNodeHeader(height: height, count: 0, room: rounded)
    }
    made.withUnsafeMutablePointerToElements { $0.initialize(to: DataNodeWord()) }
    // SAFETY: create() makes an instance of the class that it is called on.
    return unsafeDowncast(made, to: DataNode.self)
  }

  deinit {
    let node = NodeReference(self)
    node.dropFlat()
    node.releaseObjects(0..<node.count)
    withUnsafeMutablePointerToElements { _ = $0.deinitialize(count: 1) }
  }
}

/// A node without a reference count. Valid while its root is held and not changed.
struct NodeReference {
  let header: UnsafeMutablePointer<DataNodeHeader>
  private let word: UnsafeMutablePointer<DataNodeWord>

  init(_ node: DataNode) {
    (header, word) = node.withUnsafeMutablePointers { ($0, $1) }
  }

  /// The node whose reference stands at `place`.
  @inline(__always)
  init(at place: UnsafeMutablePointer<AnyObject>) {
    // SAFETY: only nodes stand at such places.
    let node = Unmanaged<DataNode>.fromOpaque(Self.object(at: place))
    self = node._withUnsafeGuaranteedRef { NodeReference($0) }
  }

  /// What a reference at `place` refers to, without another reference.
  @inline(__always)
  private static func object(at place: UnsafeRawPointer) -> UnsafeRawPointer {
    // SAFETY: a reference is read as the pointer that it is.
    place.load(as: UnsafeRawPointer.self)
  }

  // SAFETY: the tail behind the first word was allocated for slots, whose alignment is a word's.
  var slots: UnsafeMutablePointer<DataSlot> {
    UnsafeMutableRawPointer(word + 1).assumingMemoryBound(to: DataSlot.self)
  }

  var height: Int { header.pointee.height }
  var count: Int { header.pointee.count }
  var room: Int { header.pointee.room }
  var bytes: Int { count == 0 ? 0 : slots[count - 1].end }

  @inline(__always)
  func start(of index: Int) -> Int { index == 0 ? 0 : slots[index - 1].end }

  @inline(__always)
  func size(of index: Int) -> Int { slots[index].end - start(of: index) }

  /// Where the reference of a child, or of a piece's owner, stands.
  @inline(__always)
  func place(of index: Int) -> UnsafeMutablePointer<AnyObject> {
    // SAFETY: the object is a slot's first field.
    UnsafeMutableRawPointer(slots + index).assumingMemoryBound(to: AnyObject.self)
  }

  @inline(__always)
  func child(_ index: Int) -> NodeReference { NodeReference(at: place(of: index)) }

  /// Ends the slots in `range`. One by one, and only the references: see append().
  @inline(__always)
  func releaseObjects(_ range: Range<Int>) {
    for index in range {
      // Buffers lie far apart, and each release waits for one: so those behind are on their way meanwhile.
      if index &+ Self.slotsAhead < range.upperBound {
        gc_will_read(object(index &+ Self.slotsAhead))
      }
      // SAFETY: the slot's own reference, which nobody uses again.
      Unmanaged<AnyObject>.fromOpaque(object(index)).release()
    }
  }

  private static var slotsAhead: Int { 4 }

  /// What a slot refers to, which is its first field.
  @inline(__always)
  private func object(_ index: Int) -> UnsafeRawPointer { Self.object(at: slots + index) }

  /// A leaf's piece.
  @inline(__always)
  func piece(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: slots[index].base, count: size(of: index))
  }

  /// The slot with the byte at `offset`, which is one of the node's.
  @inline(__always)
  func index(at offset: Int) -> Int {
    // Where a random offset falls cannot be predicted, so there is to be no branch on it. A choice in a loop is
    // compiled to one, so the loop adds the sign of a difference at the step's place, and every step is a power of two.
    // What is not enters before: either as many slots from the first on, or as many up to the last.
    var place = Int.bitWidth - 1 - count.leadingZeroBitCount
    var low = slots[1 &<< place &- 1].end <= offset ? count &- 1 &<< place : 0
    while place > 0 {
      place &-= 1
      // Neither is negative: no overflow. 1 if the slot ends at the offset or before.
      let isBefore = (slots[low &+ 1 &<< place &- 1].end &- offset &- 1).signBit
      low &+= isBefore &<< place
    }
    return low
  }

  /// The leaf with the byte at `offset`, and where that leaf starts.
  @inline(__always)
  func leaf(at offset: Int) -> (leaf: NodeReference, start: Int) {
    var node = self
    var start = 0
    while node.height > 0 {
      let index = node.index(at: offset - start)
      start += node.start(of: index)
      node = node.child(index)
    }
    return (node, start)
  }

  /// Calls `body` with each stretch of the node's bytes in `range`, in order, and with the place of its first
  /// byte, until it sets `stop`. `origin` is where the node starts.
  func forEachPiece(
    in range: Range<Int>, origin: Int, stop: inout Bool,
    _ body: (UnsafeBufferPointer<UInt8>, Int, inout Bool) -> Void
  ) {
    let first = index(at: range.lowerBound)
    var start = start(of: first)
    // A piece is a few instructions beside the call: so the slots are walked, not looked up.
    var slot = slots + first
    let behind = slots + count
    // Only the first may be cut in front.
    var from = range.lowerBound
    if height == 0 {
      while slot < behind && from < range.upperBound {
        let end = slot.pointee.end
        let upTo = min(range.upperBound, end)
        let bytes = UnsafeBufferPointer(
          start: slot.pointee.base.unsafelyUnwrapped + (from &- start), count: upTo &- from)
        body(bytes, origin &+ from, &stop)
        if stop { return }
        (start, from) = (end, end)
        slot += 1
      }
      return
    }
    while slot < behind && from < range.upperBound && !stop {
      let end = slot.pointee.end
      let upTo = min(range.upperBound, end)
      child(slot - slots).forEachPiece(
        in: from - start..<upTo - start, origin: origin + start, stop: &stop, body)
      (start, from) = (end, end)
      slot += 1
    }
  }
}

// MARK: Copies

extension NodeReference {
  /// Copies the node's bytes in `range` to memory that has room for them.
  // Not by forEachPiece(): for small pieces the calls would cost more than the bytes.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    var index = index(at: range.lowerBound)
    var start = start(of: index)
    // Where the slot at `index` would begin.
    var place = target - (range.lowerBound - start)
    while index < count && start < range.upperBound {
      let end = slots[index].end
      let from = max(range.lowerBound, start) - start
      let upTo = min(range.upperBound, end) - start
      if height > 0 {
        child(index).copy(from..<upTo, to: place + from)
      } else {
        copySmall(slots[index].base.unsafelyUnwrapped + from, upTo - from, to: place + from)
      }
      place += end - start
      start = end
      index += 1
    }
  }

  @inline(__always)
  private func copySmall(
    _ source: UnsafeRawPointer, _ count: Int, to target: UnsafeMutableRawPointer
  ) {
    guard count >= 8 && count <= 16 else {
      return target.copyMemory(from: source, byteCount: count)
    }
    // Two words that may overlap.
    let last = source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
    target.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
  }
}

// MARK: The flat copy

extension NodeReference {
  /// All bytes in one stretch: copied at the first call and kept for the next, as long as the node is neither
  /// changed nor dies. Threads may call this at once; of two copies one is kept.
  // 0 ─exchange, by whoever is first→ a copy ─dropFlat, by the only user→ 0. Model: Tests/Models/Scenes/DataModels.
  func flattened() -> OwnBytes {
    // acquiring: pairs with the releasing exchange below, so that the copied bytes are seen.
    if let kept = Self.flat(word.pointee.flat.load(ordering: .acquiring)) {
      return seen(kept)
    }
    let total = bytes
    let made = OwnBytes.make(room: total)
    willWrite(made.start)
    copy(0..<total, to: UnsafeMutableRawPointer(made.start))
    let reference = Unmanaged.passRetained(made)
    let (won, other) = word.pointee.flat.compareExchange(
      expected: 0, desired: UInt(bitPattern: reference.toOpaque()),
      successOrdering: .releasing, failureOrdering: .acquiring)
    if won { return made }
    reference.release()
    // SAFETY: not zero, or the exchange had won.
    return seen(Self.flat(other).unsafelyUnwrapped)
  }

  private func seen(_ flat: Unmanaged<OwnBytes>) -> OwnBytes {
    let bytes = flat.takeUnretainedValue()
    willRead(bytes.start)
    return bytes
  }

  /// For the node's only user.
  func dropFlat() {
    // relaxed: whoever is alone with the node has all other uses behind it.
    let kept = word.pointee.flat.load(ordering: .relaxed)
    if kept == 0 { return }
    word.pointee.flat.store(0, ordering: .relaxed)
    Self.flat(kept)?.release()
  }

  private static func flat(_ word: UInt) -> Unmanaged<OwnBytes>? {
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }
}

extension Int {
  /// 1 if it is negative, or 0, for sums without a branch.
  @inline(__always)
  var signBit: Int { Int(bitPattern: UInt(bitPattern: self) &>> UInt(Self.bitWidth - 1)) }
}
