// Room: Data/DataNode. The tree under data of more than one piece.
// A B-tree by position. A leaf (height 0) lists pieces of buffers; a branch lists nodes one level
// lower. Each slot stores its end, counted from the first byte of its node. A look-up is therefore
// a binary search in each of a few nodes, and appending changes only the last end on each level.
//
//   slot = object │ first byte, or nil in a branch │ end
//   node = header: height, slots in use, room │ word: a flat copy of all bytes, or 0 │ slots…
//
// Invariant: every node has at most 32 slots; every node except the root has at least 8, the root
// at least 2; no slot is empty; all leaves have the same depth. So a tree of n pieces is at most
// log8(n) + 1 high, and the deinit of a value recurses no deeper, however many pieces it frees.
//
// Values share nodes. A node that is uniquely referenced, on all levels from its root, is changed
// in place; others are copied first. So all changes work on the address of a reference, and every
// reader of a node holds its root.
//
// The minimum is a quarter, not a half: appending at an edge then leaves nodes that are three
// quarters full. Rejected: a balanced binary tree (a node for each piece, five times the depth),
// and keeping the window of a subrange instead of cutting the tree (one byte of a value would keep
// all its buffers alive).

import CGrandCentralLinux

/// An entry of a node.
struct DataSlot {
  /// The owner of the piece's bytes, or the child. It is the first field, so that the address of a
  /// slot is also that of its object.
  var object: AnyObject
  var base: UnsafePointer<UInt8>?
  /// In a node, the end of the bytes; outside a node, their number.
  var end: Int

  init(object: AnyObject, base: UnsafePointer<UInt8>?, end: Int) {
    self.object = object
    self.base = base
    self.end = end
  }

  /// Makes a slot for a child, not yet in a node.
  init(_ node: DataNode) {
    self.init(object: node, base: nil, end: NodeReference(node).bytes)
  }
}

struct DataNodeHeader {
  var height: Int
  var count: Int
  var room: Int
}

/// The word before the slots, and the unit in which the tail of a node is allocated.
struct DataNodeWord: ~Copyable {
  /// An owned reference to OwnBytes, or 0.
  let flat = Atomic<UInt>(0)
}

final class DataNode: ManagedBuffer<DataNodeHeader, DataNodeWord> {
  static var maxSlots: Int { 32 }
  static var minSlots: Int { 8 }

  /// Makes a node without slots, with room for at least `room`.
  static func make(height: Int, room: Int) -> DataNode {
    // The next power of two, at least 4.
    let rounded = 1 &<< (Int.bitWidth - (max(room, 4) - 1).leadingZeroBitCount)
    let words = 1 + rounded * MemoryLayout<DataSlot>.stride / MemoryLayout<UInt>.stride
    let made = create(minimumCapacity: words) { _ in
      DataNodeHeader(height: height, count: 0, room: rounded)
    }
    made.withUnsafeMutablePointerToElements { $0.initialize(to: DataNodeWord()) }
    // SAFETY: create() returns an instance of the class on which it is called.
    return unsafeDowncast(made, to: DataNode.self)
  }

  deinit {
    let node = NodeReference(self)
    node.dropFlat()
    node.releaseObjects(0..<node.count)
    withUnsafeMutablePointerToElements { _ = $0.deinitialize(count: 1) }
  }
}

/// An unretained reference to a node. Valid while its root is held and unchanged.
struct NodeReference {
  let header: UnsafeMutablePointer<DataNodeHeader>
  private let word: UnsafeMutablePointer<DataNodeWord>

  init(_ node: DataNode) {
    (header, word) = node.withUnsafeMutablePointers { ($0, $1) }
  }

  /// Makes a reference to the node at `place`.
  @inline(__always)
  init(at place: UnsafeMutablePointer<AnyObject>) {
    // SAFETY: callers pass only addresses of references to nodes.
    let node = Unmanaged<DataNode>.fromOpaque(Self.object(at: place))
    self = node._withUnsafeGuaranteedRef { NodeReference($0) }
  }

  /// Returns the object at `place` without retaining it.
  @inline(__always)
  static func object(at place: UnsafeRawPointer) -> UnsafeRawPointer {
    // SAFETY: a reference is read as the pointer that it is.
    place.load(as: UnsafeRawPointer.self)
  }

  // SAFETY: the tail behind the first word was allocated for slots, which have the alignment of a
  // word.
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

  /// The address of the reference to a child, or to the owner of a piece.
  @inline(__always)
  func place(of index: Int) -> UnsafeMutablePointer<AnyObject> {
    // SAFETY: the object is the first field of a slot.
    UnsafeMutableRawPointer(slots + index).assumingMemoryBound(to: AnyObject.self)
  }

  @inline(__always)
  func child(_ index: Int) -> NodeReference { NodeReference(at: place(of: index)) }

  /// Releases the objects of the slots in `range`. Slot by slot, and only the references: see
  /// append().
  @inline(__always)
  func releaseObjects(_ range: Range<Int>) {
    for index in range {
      // Each release waits for a buffer in distant memory, so later ones are prefetched.
      if index &+ Self.slotsAhead < range.upperBound {
        gc_will_read(object(index &+ Self.slotsAhead))
      }
      // SAFETY: releases the slot's own reference, which is not used again.
      Unmanaged<AnyObject>.fromOpaque(object(index)).release()
    }
  }

  private static var slotsAhead: Int { 4 }

  /// The object of a slot, which is its first field.
  @inline(__always)
  private func object(_ index: Int) -> UnsafeRawPointer { Self.object(at: slots + index) }

  /// The piece of a leaf's slot.
  @inline(__always)
  func piece(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: slots[index].base, count: size(of: index))
  }

  /// The index of the slot with the byte at `offset`, which must be within the node.
  @inline(__always)
  func index(at offset: Int) -> Int {
    // A branch on a random offset is unpredictable, so the search has none. The compiler turns a
    // choice in a loop into a branch. The loop therefore adds the sign bit of a difference, shifted
    // to the step's size, and every step is a power of two. The search covers the largest power of
    // two of slots within `count`, either from the first on or up to the last.
    var place = Int.bitWidth - 1 - count.leadingZeroBitCount
    var low = slots[1 &<< place &- 1].end <= offset ? count &- 1 &<< place : 0
    while place > 0 {
      place &-= 1
      // Neither operand is negative, so nothing overflows. 1 if the slot ends at the offset or
      // before.
      let isBefore = (slots[low &+ 1 &<< place &- 1].end &- offset &- 1).signBit
      low &+= isBefore &<< place
    }
    return low
  }

  /// Returns the leaf with the byte at `offset`, and the start of that leaf.
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

  /// Calls `body` with each stretch of the node's bytes in `range`, in order, and with the offset
  /// of its first byte, until it sets `stop`. `origin` is the start of the node.
  func forEachPiece(
    in range: Range<Int>, origin: Int, stop: inout Bool,
    _ body: (UnsafeBufferPointer<UInt8>, Int, inout Bool) -> Void
  ) {
    let first = index(at: range.lowerBound)
    var start = start(of: first)
    // Besides the call, a piece costs a few instructions, so the slots are walked, not searched.
    var slot = slots + first
    let behind = slots + count
    // Only the first piece may start before the range.
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
  /// Copies the node's bytes in `range` to memory with room for them.
  // Not by forEachPiece(): for small pieces the calls would cost more than the copy.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    var index = index(at: range.lowerBound)
    var start = start(of: index)
    // The destination of the start of the slot at `index`.
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
    // Two words, which may overlap.
    let last = source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
    target.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
  }
}

// MARK: The flat copy

extension NodeReference {
  /// Returns all bytes in one stretch. The first call copies them; the copy is kept until the node
  /// is changed or freed. Threads may call this concurrently; one of two copies is kept.
  // 0 ─exchange, by the first thread→ a copy ─dropFlat, by the only user→ 0
  // Model: Verification/Models/Scenes/DataModels.
  func flattened() -> OwnBytes {
    // acquiring: pairs with the releasing exchange below, so that the copied bytes are visible.
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
    // SAFETY: not 0, because the exchange from 0 failed.
    return seen(Self.flat(other).unsafelyUnwrapped)
  }

  private func seen(_ flat: Unmanaged<OwnBytes>) -> OwnBytes {
    let bytes = flat.takeUnretainedValue()
    willRead(bytes.start)
    return bytes
  }

  /// Drops the flat copy. The caller must be the only user of the node.
  func dropFlat() {
    // relaxed: the only user of a node has all other uses behind it.
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
  /// 1 if the number is negative, otherwise 0; for sums without a branch.
  @inline(__always)
  var signBit: Int { Int(bitPattern: UInt(bitPattern: self) &>> UInt(Self.bitWidth - 1)) }
}
