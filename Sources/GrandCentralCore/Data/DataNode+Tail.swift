// Room: Data/DataNode+Tail. The last piece of a tree, which small appends grow.

extension DataNode {
  /// Copies bytes behind the last piece of the tree at `place`, if that can be done where they stand: no
  /// other value sees the piece, or a node on the way to it, and its buffer has room.
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

  /// Adds a piece to the tree at `place`, if nobody else sees the nodes on the way and the leaf has room: what
  /// add() does, for the way that most pieces take. Takes one reference to the owner if it does, and none if not: on
  /// a piece that is used again and again, those are most of the time.
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

  /// Puts `slot` in the last piece's stead.
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
  /// Where the reference of the last piece's owner stands, and the piece.
  var last: (owner: UnsafeMutablePointer<AnyObject>, bytes: UnsafeBufferPointer<UInt8>) {
    var node = self
    while node.height > 0 { node = node.child(node.count - 1) }
    return (node.place(of: node.count - 1), node.piece(node.count - 1))
  }
}
