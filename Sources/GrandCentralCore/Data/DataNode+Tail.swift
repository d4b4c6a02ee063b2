// Room: Data/DataNode+Tail. Changes of the last piece of a tree, which small appends grow.

extension DataNode {
  /// Copies bytes behind the last piece of the tree at `place`, in its buffer. False if another
  /// value uses the piece or a node above it, or the buffer has no room.
  static func extend(
    _ place: UnsafeMutablePointer<AnyObject>, by source: UnsafePointer<UInt8>, _ count: Int
  ) -> Bool {
    guard isUnique(place) else { return false }
    let node = NodeReference(at: place)
    let index = node.count - 1
    if node.height > 0 {
      guard extend(node.place(of: index), by: source, count) else { return false }
    } else {
      let piece = node.piece(index)
      let end = piece.baseAddress.unsafelyUnwrapped + piece.count
      let room = OwnBytes.spareRoom(count, behind: end, of: node.place(of: index))
      guard let room else { return false }
      room.initialize(from: source, count: count)
    }
    node.slots[index].end += count
    node.dropFlat()
    return true
  }

  /// Adds a piece to the tree at `place`. False if another value uses a node on the way, or the
  /// leaf is full. A faster form of add() for the usual case: it takes one reference to the owner
  /// on success and none on failure. For a piece that is appended repeatedly, counting references
  /// takes most of the time.
  static func append(
    _ owner: Unmanaged<AnyObject>, _ base: UnsafePointer<UInt8>, _ count: Int,
    inPlaceOf place: UnsafeMutablePointer<AnyObject>
  ) -> Bool {
    guard isUnique(place) else { return false }
    let node = NodeReference(at: place)
    if node.height == 0 {
      guard node.count < node.room else { return false }
      (node.slots + node.count).initialize(
        to: DataSlot(object: owner.takeUnretainedValue(), base: base, end: node.bytes + count))
      node.header.pointee.count += 1
    } else {
      let index = node.count - 1
      guard append(owner, base, count, inPlaceOf: node.place(of: index)) else { return false }
      node.slots[index].end += count
    }
    node.dropFlat()
    return true
  }

  /// Replaces the last piece by `slot`.
  static func replaceLast(_ slot: DataSlot, in place: UnsafeMutablePointer<AnyObject>) {
    let node = own(place, room: 0)
    let index = node.count - 1
    guard node.height == 0 else {
      replaceLast(slot, in: node.place(of: index))
      return node.resize(index, to: node.child(index).bytes)
    }
    let end = node.start(of: index) + slot.end
    node.slots[index] = DataSlot(object: slot.object, base: slot.base, end: end)
  }
}

extension NodeReference {
  /// The address of the reference to the last piece's owner, and the piece.
  var last: (owner: UnsafeMutablePointer<AnyObject>, bytes: UnsafeBufferPointer<UInt8>) {
    var node = self
    while node.height > 0 { node = node.child(node.count - 1) }
    return (node.place(of: node.count - 1), node.piece(node.count - 1))
  }
}
